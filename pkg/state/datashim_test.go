package state

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

func newTestDatashim(t *testing.T) (*datashim, *[]locality.DatasetKey) {
	t.Helper()
	var changed []locality.DatasetKey
	return newDatashim(newMalformed(), func(key locality.DatasetKey) { changed = append(changed, key) }), &changed
}

func datasetObject(status any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	u.SetNamespace("team")
	u.SetName("ds")
	return u
}

func statusOf(caching, provision string) *unstructured.Unstructured {
	return datasetObject(map[string]any{
		"caching":   map[string]any{"status": caching, "info": "free text"},
		"provision": map[string]any{"status": provision},
	})
}

func gatewayOn(nodes ...string) *unstructured.Unstructured {
	return placements("gateways", nodes...)
}

func placements(list string, nodes ...string) *unstructured.Unstructured {
	var entries []any
	for _, node := range nodes {
		entries = append(entries, map[string]any{"key": "kubernetes.io/hostname", "value": node})
	}
	return datasetObject(map[string]any{"caching": map[string]any{"placements": map[string]any{list: entries}}})
}

// replicasOn is what a gateway, or a data location, on each node amounts to.
func replicasOn(gateway bool, nodes ...string) locality.Dataset {
	var out locality.Dataset
	for _, node := range nodes {
		out.Replicas = append(out.Replicas, locality.Replica{At: locality.OnNode(node), Gateway: gateway, Source: "Datashim"})
	}
	return out
}

func testKey() locality.DatasetKey { return locality.DatasetKey{Namespace: "team", Name: "ds"} }

// TestStatusMatrix: which states of a Dataset let its placement count. The first two are Datashim's own
// combinations for a working cache; everything else means that no cache can be relied on.
func TestStatusMatrix(t *testing.T) {
	usable := map[[2]string]bool{{"OK", "OK"}: true, {"Pending", "OK"}: true}
	states := []string{"", "Initializing", "Pending", "OK", "Disabled", "Failed", "ok", "Whatever"}
	for _, caching := range states {
		for _, provision := range states {
			t.Run(fmt.Sprintf("caching %q, provision %q", caching, provision), func(t *testing.T) {
				d, _ := newTestDatashim(t)
				d.setPlacement(0, gatewayOn("n1"))
				d.setStatus(0, statusOf(caching, provision))
				counts := len(d.dataset(testKey()).Replicas) > 0
				if want := usable[[2]string{caching, provision}]; counts != want {
					t.Errorf("placement counts: %v, want %v", counts, want)
				}
			})
		}
	}
}

func TestPlacementOfBothGroups(t *testing.T) {
	const current, old = 0, 1
	cases := map[string]struct {
		set  func(*datashim)
		want locality.Dataset
	}{
		"nothing known": {set: func(*datashim) {}},
		"a placement without a Dataset counts: nothing says it is unusable": {
			set:  func(d *datashim) { d.setPlacement(old, gatewayOn("n1")) },
			want: replicasOn(true, "n1"),
		},
		"a Dataset without a placement": {
			set: func(d *datashim) { d.setStatus(current, statusOf("OK", "OK")) },
		},
		"the present group wins over the old one": {
			set: func(d *datashim) {
				d.setPlacement(old, gatewayOn("old"))
				d.setPlacement(current, gatewayOn("new"))
			},
			want: replicasOn(true, "new"),
		},
		"an empty placement of the present group hides nothing": {
			set: func(d *datashim) {
				d.setPlacement(old, gatewayOn("old"))
				d.setPlacement(current, gatewayOn())
			},
			want: replicasOn(true, "old"),
		},
		"each group's Dataset speaks for its own placement only": {
			set: func(d *datashim) {
				d.setPlacement(current, gatewayOn("new"))
				d.setStatus(current, statusOf("Failed", "OK"))
				d.setPlacement(old, placements("datalocations", "old"))
				d.setStatus(old, statusOf("Pending", "OK"))
			},
			want: replicasOn(false, "old"),
		},
		"a status that cannot be read is no permission": {
			set: func(d *datashim) {
				d.setPlacement(old, gatewayOn("n1"))
				d.setStatus(old, datasetObject(map[string]any{"caching": "OK", "provision": 7}))
			},
		},
		"where there is a gateway the data locations do not count": {
			set: func(d *datashim) {
				object := gatewayOn("n1")
				entry := []any{map[string]any{"key": "kubernetes.io/hostname", "value": "n2"}}
				if err := unstructured.SetNestedSlice(object.Object, entry, "status", "caching", "placements", "datalocations"); err != nil {
					panic(err)
				}
				d.setPlacement(current, object)
			},
			want: replicasOn(true, "n1"),
		},
		"a repeated node counts once": {
			set:  func(d *datashim) { d.setPlacement(old, placements("datalocations", "n1", "n2", "n1")) },
			want: replicasOn(false, "n1", "n2"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := newTestDatashim(t)
			tc.set(d)
			if diff := cmp.Diff(tc.want, d.dataset(testKey())); diff != "" {
				t.Errorf("placement (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRemovalForgetsAndTells(t *testing.T) {
	d, changed := newTestDatashim(t)
	d.setPlacement(0, gatewayOn("n1"))
	if !d.holdsData(locality.Node{Name: "n1"}) || d.holdsData(locality.Node{Name: "n2"}) {
		t.Error("want n1, and not n2, to count as a node with data")
	}
	for _, r := range d.resources() {
		r.remove("team", "ds")
	}
	if d.known(testKey()) {
		t.Error("dataset is still known after all its objects are gone")
	}
	if d.holdsData(locality.Node{Name: "n1"}) {
		t.Error("n1 still counts as a node with data")
	}
	if len(*changed) < 2 || (*changed)[0] != testKey() {
		t.Errorf("changes told: %v, want the dataset for the placement and for its removal", *changed)
	}
}

// TestMalformedPlacements: the old group's schema lets anything through. What can be read is used, what cannot
// is counted.
func TestMalformedPlacements(t *testing.T) {
	many := make([]string, maxLocations+5)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	gateways := func(value any) *unstructured.Unstructured {
		return datasetObject(map[string]any{"caching": map[string]any{"placements": map[string]any{"gateways": value}}})
	}
	good := map[string]any{"key": "kubernetes.io/hostname", "value": "n1"}
	cases := map[string]struct {
		object       *unstructured.Unstructured
		wantGateways int
		wantFaults   int
	}{
		"no status":                          {object: datasetObject(nil)},
		"status is a number":                 {object: datasetObject(int64(3)), wantFaults: 1},
		"placements is a list":               {object: datasetObject(map[string]any{"caching": map[string]any{"placements": []any{}}}), wantFaults: 1},
		"gateways is a string":               {object: gateways("n1"), wantFaults: 1},
		"one entry is a string, one is good": {object: gateways([]any{"n1", good}), wantGateways: 1, wantFaults: 1},
		"a key without a value":              {object: gateways([]any{map[string]any{"key": "zone"}, good}), wantGateways: 1, wantFaults: 1},
		"a value that is a number":           {object: gateways([]any{map[string]any{"key": "zone", "value": int64(1)}}), wantFaults: 1},
		"too many entries: the first 1,024":  {object: gatewayOn(many...), wantGateways: maxLocations, wantFaults: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := newTestDatashim(t)
			d.setPlacement(1, tc.object)
			if got := len(d.dataset(testKey()).Replicas); got != tc.wantGateways {
				t.Errorf("%d gateways, want %d", got, tc.wantGateways)
			}
			if got := testutil.ToFloat64(d.malformed.WithLabelValues("datasetsinternal")); got != float64(tc.wantFaults) {
				t.Errorf("%v faults counted, want %d", got, tc.wantFaults)
			}
		})
	}
}
