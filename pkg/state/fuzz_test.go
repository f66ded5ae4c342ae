package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// asObject is what an API server would hand out for the JSON if no schema stood in its way: anything, but with a name
// and a namespace. It is false for what is no JSON object.
func asObject(data []byte) (*unstructured.Unstructured, bool) {
	var content map[string]any
	if err := utiljson.Unmarshal(data, &content); err != nil || content == nil {
		return nil, false
	}
	content["metadata"] = map[string]any{"namespace": testKey().Namespace, "name": testKey().Name, "uid": "d2b7-uid"}
	return &unstructured.Unstructured{Object: content}, true
}

// checkDataset holds for whatever a source makes of an object: not more places than the object can name, and none of
// them without a name.
func checkDataset(t *testing.T, d locality.Dataset, most int) {
	t.Helper()
	if len(d.Replicas) > most {
		t.Fatalf("%d places, want at most %d", len(d.Replicas), most)
	}
	if d.SizeBytes < 0 {
		t.Fatalf("size %d", d.SizeBytes)
	}
	for _, r := range d.Replicas {
		if r.At.Key == "" || r.At.Value == "" || r.Source == "" {
			t.Fatalf("a place without a name: %+v", r)
		}
		if r.Bytes < 0 || !r.BytesKnown && r.Bytes != 0 {
			t.Fatalf("bytes known %v: %d", r.BytesKnown, r.Bytes)
		}
	}
}

// FuzzDatashimObjects reads any two JSON objects as Dataset and DatasetInternal: no panic, a bounded number of named
// places, and nothing is left once they are gone.
func FuzzDatashimObjects(f *testing.F) {
	f.Add([]byte(`{"status":{"caching":{"status":"OK"},"provision":{"status":"OK"}}}`),
		[]byte(`{"status":{"caching":{"placements":{"gateways":[{"key":"kubernetes.io/hostname","value":"n1"}],"datalocations":[]}}}}`))
	f.Add([]byte(`{"status":{"caching":7,"provision":null}}`),
		[]byte(`{"status":{"caching":{"placements":{"gateways":{},"datalocations":[{"key":"zone","value":""},{"key":1},"x",null]}}}}`))
	f.Add([]byte(`{"status":[]}`), []byte(`{"status":{"caching":"none"}}`))
	f.Add([]byte(`{}`), []byte(`{"status":{"caching":{"placements":null}}}`))
	f.Fuzz(func(t *testing.T, status, placement []byte) {
		d := newDatashim(newMalformed(), func(locality.DatasetKey) {})
		for group := range datashimGroups() {
			if object, ok := asObject(status); ok {
				d.setStatus(group, object)
			}
			if object, ok := asObject(placement); ok {
				if _, faults := decodeDatashimPlacement(object); faults < 0 || faults > len(placement) {
					t.Fatalf("%d faults in %d bytes", faults, len(placement))
				}
				d.setPlacement(group, object)
			}
		}
		checkDataset(t, d.dataset(testKey()), maxLocations)
		d.holdsData(locality.Node{Name: "n1"})
		for _, r := range d.resources() {
			r.remove(testKey().Namespace, testKey().Name)
		}
		if d.known(testKey()) || len(d.places) != 0 {
			t.Fatalf("left behind: %v %v", d.datasets, d.places)
		}
	})
}

// FuzzFluidDataset reads any JSON object as Fluid's Dataset, and any text as the capacity in a worker's label.
func FuzzFluidDataset(f *testing.F) {
	f.Add([]byte(`{"status":{"phase":"Bound","ufsTotal":"4.00GiB","cacheStates":{"cached":"2.00GiB"}}}`), "6GiB", "alluxio-m-team-ds")
	f.Add([]byte(`{"status":{"phase":"Bound","ufsTotal":"[Calculating]","cacheStates":{"cached":"7.999999999999999EiB"}}}`), "7EiB", "-d-d2b7-uid")
	f.Add([]byte(`{"status":{"phase":"Failed","cacheStates":[]}}`), "0.00B", "m")
	f.Add([]byte(`{"status":{"phase":"Bound","cacheStates":{"cached":3}}}`), "-1GiB", "x-t-team-ds")
	f.Fuzz(func(t *testing.T, data []byte, capacity, name string) {
		object, ok := asObject(data)
		if !ok {
			return
		}
		nodes := newTestNodes(t,
			worker("n1", fluidCapacityPrefix+name, capacity, fluidCapacityPrefix+"a-m-team-ds", capacity, fluidCapacityPrefix+"a-d-team-ds", "1GiB"),
			worker("n2", fluidCapacityPrefix+name, capacity),
			labelled("n3", map[string]string{fluidClientPrefix + "team-ds": fluidMark}),
		)
		fl := newFluid(nodes, newMalformed(), func(locality.DatasetKey) {})
		fl.set(object)
		checkDataset(t, fl.dataset(testKey()), 4) // n1 has up to three capacities, n2 one
		fl.holdsData(locality.Node{Name: "n1", Labels: map[string]string{name: capacity}})
		for _, r := range fl.resources() {
			r.remove(testKey().Namespace, testKey().Name)
		}
		if fl.known(testKey()) {
			t.Fatal("the dataset is known after its removal")
		}
	})
}

// FuzzNodeDatasetCache reads any JSON object as what an agent reports, twice: first as another node's report that the
// fuzzed one adds to, then replacing it.
func FuzzNodeDatasetCache(f *testing.F) {
	f.Add([]byte(`{"status":{"observedAt":"2026-01-01T00:00:00Z","datasets":[
		{"namespace":"team","name":"ds","medium":"SSD","cachedBytes":5,"totalBytes":9,"observedAt":"2026-01-01T00:00:00Z"},
		{"namespace":"team","name":"ds","medium":"HDD","cachedBytes":9223372036854775807,"observedAt":"2026-01-01T00:00:00Z"}]}}`))
	f.Add([]byte(`{"status":{"datasets":[{"namespace":"team","name":"ds","medium":"Tape","cachedBytes":-1,"totalBytes":-9}]}}`))
	f.Add([]byte(`{"status":{"observedAt":"yesterday","datasets":[{"namespace":"","name":"ds"}]}}`))
	f.Add([]byte(`{"status":{"datasets":[null,{},[],"x"]}}`))
	f.Add([]byte(`{"status":{"datasets":[{"namespace":"team","name":"ds","cachedBytes":1e300}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, ok := asObject(data)
		if !ok {
			return
		}
		c := newNodeCaches(newMalformed(), func(locality.DatasetKey) {})
		c.set(cacheObject("n1", cacheEntry("ds", "SSD", 1, 0)))
		c.set(object)
		for _, key := range c.keys() {
			checkDataset(t, c.dataset(key), len(data)+1)
			if !c.known(key) {
				t.Fatalf("%s is listed, but not known", key)
			}
		}
		// One bad entry hides no other node's report.
		if !c.known(testKey()) || !c.holdsData(locality.Node{Name: "n1"}) {
			t.Fatal("the report of node n1 is hidden")
		}
		c.set(object)
		for _, node := range []string{"n1", object.GetName()} {
			c.replace(node, nil)
		}
		if len(c.keys()) != 0 || len(c.byNode) != 0 {
			t.Fatalf("left behind: %v %v", c.byDataset, c.byNode)
		}
	})
}

// FuzzMergedSources: whatever two sources say of one dataset, compiling it and asking how near a node is does not
// panic and stays in range.
func FuzzMergedSources(f *testing.F) {
	f.Add([]byte(`{"status":{"datasets":[{"namespace":"team","name":"ds","medium":"SSD","cachedBytes":5,"totalBytes":3}]}}`),
		[]byte(`{"status":{"caching":{"placements":{"gateways":[{"key":"zone","value":"a"},{"key":"kubernetes.io/hostname","value":"ds"}]}}}}`))
	f.Fuzz(func(t *testing.T, report, placement []byte) {
		caches, d := newNodeCaches(newMalformed(), func(locality.DatasetKey) {}), newDatashim(newMalformed(), func(locality.DatasetKey) {})
		if object, ok := asObject(report); ok {
			caches.set(object)
		}
		if object, ok := asObject(placement); ok {
			d.setPlacement(0, object)
		}
		node := labelled("ds", map[string]string{"zone": "a", corev1.LabelHostname: "host"})
		s := &State{sources: map[configv1.DatasetSource]source{configv1.SourceNodeDatasetCache: caches, configv1.SourceDatashim: d}}
		merged := locality.Merge(s.Datasets(testKey(), []configv1.DatasetSource{configv1.SourceNodeDatasetCache, configv1.SourceDatashim})...)
		checkDataset(t, merged, maxLocations+len(report))
		rules := &locality.Rules{Tiers: locality.Tiers{{LabelKey: "zone", Factor: 0.5}}}
		reach := locality.NewReach(testKey(), merged, rules, newTestNodes(t, node))
		request := locality.NewRequest([]*locality.Reach{reach}, rules)
		asked := locality.Node{Name: node.Name, Labels: node.Labels}
		if score := request.Score(asked); score < 0 || score > locality.MaxScore || score != request.Explain(asked).Score {
			t.Fatalf("score %d, explained as %d", score, request.Explain(asked).Score)
		}
	})
}
