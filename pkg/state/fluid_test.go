package state

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

func fluidDatasetObject(phase, total, cached string) *unstructured.Unstructured {
	u := datasetObject(map[string]any{
		"phase": phase, "ufsTotal": total, "cacheStates": map[string]any{"cached": cached, "cachedPercentage": "50.0%"},
	})
	u.SetUID(types.UID("d2b7-uid"))
	return u
}

func worker(node string, more ...string) *corev1.Node {
	labels := map[string]string{"fluid.io/s-team-ds": "true", "fluid.io/s-alluxio-team-ds": "true"}
	for i := 0; i+1 < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	return labelled(node, labels)
}

func fluidReplica(node string) locality.Replica {
	return locality.Replica{At: locality.OnNode(node), Source: "Fluid"}
}

func fluidBytes(node string, medium locality.Medium, bytes int64) locality.Replica {
	r := fluidReplica(node)
	r.Medium, r.Bytes, r.BytesKnown = medium, bytes, true
	return r
}

func TestFluidPlacements(t *testing.T) {
	long := locality.DatasetKey{Namespace: "team", Name: strings.Repeat("d", 50)} // fluid.io/s-team-ddd… has 65 characters
	client := labelled("client", map[string]string{"fluid.io/f-team-ds": "true"})
	cases := map[string]struct {
		key    locality.DatasetKey
		nodes  []*corev1.Node
		object *unstructured.Unstructured
		want   locality.Dataset
	}{
		"labels alone: Fluid's definitions may not be readable": {
			nodes: []*corev1.Node{worker("n1")},
			want:  locality.Dataset{Replicas: []locality.Replica{fluidReplica("n1")}},
		},
		"a bound dataset": {
			nodes: []*corev1.Node{worker("n1"), worker("n2")}, object: fluidDatasetObject("Bound", "2.00GiB", "[Calculating]"),
			want: locality.Dataset{SizeBytes: 2 << 30, Replicas: []locality.Replica{fluidReplica("n1"), fluidReplica("n2")}},
		},
		// 1 GiB cached, capacities 3 GiB in memory on n1 and 1 GiB on n2's disk: 3/4 and 1/4 of it.
		"cached bytes are spread like the capacities": {
			nodes: []*corev1.Node{
				worker("n1", "fluid.io/s-h-alluxio-m-team-ds", "3GiB", "fluid.io/s-h-alluxio-t-team-ds", "3GiB"),
				worker("n2", "fluid.io/s-h-alluxio-d-team-ds", "1GiB"),
			},
			object: fluidDatasetObject("Bound", "4.00GiB", "1.00GiB"),
			want: locality.Dataset{SizeBytes: 4 << 30, Replicas: []locality.Replica{
				fluidBytes("n1", locality.MediumMemory, 3<<28), fluidBytes("n2", locality.MediumSSD, 1<<28),
			}},
		},
		"workers that hold nothing yet": {
			nodes:  []*corev1.Node{worker("n1", "fluid.io/s-h-alluxio-m-team-ds", "3GiB")},
			object: fluidDatasetObject("Bound", "", "0.00B"),
			want:   locality.Dataset{Replicas: []locality.Replica{fluidBytes("n1", locality.MediumMemory, 0)}},
		},
		"a capacity that is no number is none": {
			nodes: []*corev1.Node{worker("n1", "fluid.io/s-h-alluxio-m-team-ds", "much")}, object: fluidDatasetObject("Bound", "", "1GiB"),
			want: locality.Dataset{Replicas: []locality.Replica{fluidReplica("n1")}},
		},
		"labels left over from a dataset that failed": {
			nodes: []*corev1.Node{worker("n1")}, object: fluidDatasetObject("Failed", "", ""),
		},
		"a status that cannot be read": {
			nodes: []*corev1.Node{worker("n1")}, object: datasetObject("broken"),
		},
		"without workers the clients are what there is": {
			nodes: []*corev1.Node{client},
			want:  locality.Dataset{Replicas: []locality.Replica{{At: locality.OnNode("client"), Gateway: true, Source: "Fluid"}}},
		},
		"with workers the clients do not count": {
			nodes: []*corev1.Node{client, worker("n1")},
			want:  locality.Dataset{Replicas: []locality.Replica{fluidReplica("n1")}},
		},
		"another value than true is no mark": {
			nodes: []*corev1.Node{labelled("n1", map[string]string{"fluid.io/s-team-ds": "false"})},
		},
		"a long name is replaced by the UID": {
			key: long,
			nodes: []*corev1.Node{labelled("n1", map[string]string{
				"fluid.io/s-d2b7-uid": "true", "fluid.io/s-h-alluxio-d-d2b7-uid": "1GiB",
			})},
			object: fluidDatasetObject("Bound", "", "1.00KiB"),
			want:   locality.Dataset{Replicas: []locality.Replica{fluidBytes("n1", locality.MediumSSD, 1024)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			key := cmp.Or(tc.key, testKey())
			f := newFluid(newTestNodes(t, tc.nodes...), newMalformed(), func(locality.DatasetKey) {})
			if tc.object != nil {
				tc.object.SetName(key.Name)
				f.set(tc.object)
			}
			got := f.dataset(key)
			slices.SortFunc(got.Replicas, func(a, b locality.Replica) int { return cmp.Compare(a.At.Value, b.At.Value) })
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("dataset (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseQuantity(t *testing.T) {
	cases := map[string]quantity{
		"2GiB":          {bytes: 2 << 30, known: true},
		"566.22MiB":     {bytes: 593724702, known: true}, // 566.22 x 1,048,576 = 593,724,702.7
		"0.00B":         {known: true},
		"12B":           {bytes: 12, known: true},
		" 1.5KiB ":      {bytes: 1536, known: true},
		"7EiB":          {bytes: 7 << 60, known: true},
		"8EiB":          {}, // 2^63 does not fit
		"":              {},
		"B":             {},
		"iB":            {},
		"KiB":           {},
		"[Calculating]": {},
		"-1GiB":         {},
		"NaNGiB":        {},
		"InfB":          {},
		"1GB":           {},
		"1XiB":          {},
	}
	for text, want := range cases {
		if got := parseQuantity(text); got != want {
			t.Errorf("parseQuantity(%q) = %+v, want %+v", text, got, want)
		}
	}
}

// FuzzParseQuantity: no panic, no negative number.
func FuzzParseQuantity(f *testing.F) {
	for _, seed := range []string{"2GiB", "[Calculating]", "-0B", "1e400EiB", "iB"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if q := parseQuantity(text); q.bytes < 0 || q.bytes == math.MinInt64 || !q.known && q.bytes != 0 {
			t.Fatalf("parseQuantity(%q) = %+v", text, q)
		}
	})
}

// BenchmarkFluidDataset: what a dataset with 10 workers costs a pod that asks, at 5,000 nodes.
func BenchmarkFluidDataset(b *testing.B) {
	nodes := make([]*corev1.Node, 5000)
	for i := range nodes {
		nodes[i] = labelled(fmt.Sprint("n", i), map[string]string{"zone": fmt.Sprint(i % 20)})
		if i%500 == 0 {
			nodes[i] = worker(fmt.Sprint("n", i), "fluid.io/s-h-alluxio-m-team-ds", "3GiB")
		}
	}
	f := newFluid(newTestNodes(b, nodes...), newMalformed(), func(locality.DatasetKey) {})
	f.set(fluidDatasetObject("Bound", "4.00GiB", "1.00GiB"))
	b.ReportAllocs()
	for b.Loop() {
		f.dataset(testKey())
	}
}
