package state

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

const (
	counted  = "2026-01-01T00:00:00Z"
	lifeSign = "2026-01-01T00:05:00Z"
)

func cacheEntry(name, medium string, cached, total int64) map[string]any {
	entry := map[string]any{"namespace": "team", "name": name, "medium": medium, "cachedBytes": cached, "observedAt": counted}
	if total != 0 {
		entry["totalBytes"] = total
	}
	return entry
}

func cacheObject(node string, entries ...any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{"observedAt": lifeSign, "datasets": entries},
	}}
	u.SetName(node)
	return u
}

func countedOn(node string, bytes int64, medium locality.Medium) locality.Replica {
	observed, err := time.Parse(time.RFC3339, lifeSign)
	if err != nil {
		panic(err)
	}
	return locality.Replica{
		At: locality.OnNode(node), Bytes: bytes, BytesKnown: true, Medium: medium,
		Observed: observed, Source: "NodeDatasetCache",
	}
}

// newTestCaches returns the source and the names of the datasets it told of, which the test may clear.
func newTestCaches() (*nodeCaches, *[]string) {
	var changed []string
	return newNodeCaches(newMalformed(), func(key locality.DatasetKey) { changed = append(changed, key.Name) }), &changed
}

func TestReportsOfSeveralNodesAreOneDataset(t *testing.T) {
	c, _ := newTestCaches()
	c.set(cacheObject("n1", cacheEntry("ds", "Memory", 10, 100), cacheEntry("ds", "HDD", 30, 100)))
	c.set(cacheObject("n2", cacheEntry("ds", "SSD", 20, 0), cacheEntry("other", "SSD", 1, 0)))
	got := c.dataset(testKey())
	slices.SortFunc(got.Replicas, func(a, b locality.Replica) int { return cmp.Compare(a.Bytes, b.Bytes) })
	want := locality.Dataset{SizeBytes: 100, NodeCached: true, Replicas: []locality.Replica{
		countedOn("n1", 10, locality.MediumMemory), countedOn("n2", 20, locality.MediumSSD), countedOn("n1", 30, locality.MediumHDD),
	}}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("dataset (-want +got):\n%s", diff)
	}
}

func TestNodesBecomeWarmOnlyWhereAgentsReport(t *testing.T) {
	c, _ := newTestCaches()
	if c.dataset(testKey()).NodeCached {
		t.Error("without any report: want no node to become warm")
	}
	c.set(cacheObject("n1"))
	if !c.dataset(testKey()).NodeCached {
		t.Error("with a report, be it empty: want nodes to become warm")
	}
}

func TestWhichChangesAreTold(t *testing.T) {
	first := cacheObject("n1", cacheEntry("ds", "SSD", 10, 0), cacheEntry("other", "SSD", 1, 0))
	heartbeat := first.DeepCopy()
	if err := unstructured.SetNestedField(heartbeat.Object, "2026-01-01T00:06:00Z", "status", "observedAt"); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		next *unstructured.Unstructured
		want []string
	}{
		"a heartbeat is no change":                    {next: heartbeat},
		"only the dataset whose bytes changed":        {next: cacheObject("n1", cacheEntry("ds", "SSD", 11, 0), cacheEntry("other", "SSD", 1, 0)), want: []string{"ds"}},
		"a dataset that went":                         {next: cacheObject("n1", cacheEntry("other", "SSD", 1, 0)), want: []string{"ds"}},
		"a dataset that came":                         {next: cacheObject("n1", cacheEntry("ds", "SSD", 10, 0), cacheEntry("other", "SSD", 1, 0), cacheEntry("new", "SSD", 1, 0)), want: []string{"new"}},
		"a dataset renamed: the old one, the new one": {next: cacheObject("n1", cacheEntry("renamed", "SSD", 10, 0), cacheEntry("other", "SSD", 1, 0)), want: []string{"ds", "renamed"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, changed := newTestCaches()
			c.set(first)
			*changed = nil
			c.set(tc.next)
			slices.Sort(*changed)
			if diff := gocmp.Diff(tc.want, *changed); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportThatGoesLeavesNothing(t *testing.T) {
	c, _ := newTestCaches()
	c.set(cacheObject("n1", cacheEntry("ds", "SSD", 10, 0)))
	if !c.known(testKey()) || !c.holdsData(locality.Node{Name: "n1"}) {
		t.Error("want the dataset known and n1 to hold data")
	}
	c.replace("n1", nil)
	if c.known(testKey()) || c.holdsData(locality.Node{Name: "n1"}) || len(c.byNode)+len(c.byDataset) != 0 {
		t.Errorf("left behind: %v %v", c.byNode, c.byDataset)
	}
}

func TestMalformedReports(t *testing.T) {
	object := func(datasets any) *unstructured.Unstructured {
		u := cacheObject("n1")
		u.Object["status"] = map[string]any{"datasets": datasets}
		return u
	}
	cases := map[string]struct {
		object     *unstructured.Unstructured
		wantBytes  int64 // of the dataset's replicas
		wantFaults int
	}{
		"no status":              {object: &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "n1"}}}},
		"datasets is a string":   {object: object("ds"), wantFaults: 1},
		"a negative count":       {object: cacheObject("n1", cacheEntry("ds", "SSD", -5, 0)), wantFaults: 1},
		"more bytes than total":  {object: cacheObject("n1", cacheEntry("ds", "SSD", 50, 20)), wantBytes: 50, wantFaults: 1},
		"an unknown medium":      {object: cacheObject("n1", cacheEntry("ds", "Tape", 7, 0)), wantBytes: 7},
		"one bad, one good":      {object: cacheObject("n1", cacheEntry("", "SSD", 5, 0), cacheEntry("ds", "SSD", 5, 0)), wantBytes: 5, wantFaults: 1},
		"observedAt is no time":  {object: cacheObject("n1", map[string]any{"namespace": "team", "name": "ds", "observedAt": "yesterday"}), wantFaults: 1},
		"cachedBytes is a float": {object: cacheObject("n1", map[string]any{"namespace": "team", "name": "ds", "cachedBytes": "many"}), wantFaults: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newTestCaches()
			c.set(tc.object)
			var bytes int64
			for _, r := range c.dataset(testKey()).Replicas {
				bytes += r.Bytes
			}
			if bytes != tc.wantBytes {
				t.Errorf("%d bytes, want %d", bytes, tc.wantBytes)
			}
			if got := testutil.ToFloat64(c.malformed.WithLabelValues(nodeCachesResource)); got != float64(tc.wantFaults) {
				t.Errorf("%v faults counted, want %d", got, tc.wantFaults)
			}
		})
	}
}

// BenchmarkNodeDatasetCacheUpdate: one agent's report of 20 datasets changes in part, at 5,000 nodes and 2,000
// datasets. Budget: 100 us.
func BenchmarkNodeDatasetCacheUpdate(b *testing.B) {
	c := newNodeCaches(newMalformed(), func(locality.DatasetKey) {})
	report := func(node, bytes int) *unstructured.Unstructured {
		var entries []any
		for i := range 20 {
			entries = append(entries, cacheEntry(fmt.Sprint("ds-", (node*7+i*101)%2000), "SSD", int64(bytes+i+1), 1<<30))
		}
		return cacheObject(fmt.Sprint("node-", node), entries...)
	}
	for node := range 5000 {
		c.set(report(node, 1))
	}
	updates := []*unstructured.Unstructured{report(17, 1), report(17, 100)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.set(updates[i%2])
	}
}
