package workload

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// toy are the pods of the predecessor's failure log: a share, none, and two devices.
func toy() []model.Pod {
	return []model.Pod{
		{Name: "gpu-pod-00", CPUMilli: 4000, GPUs: 1, GPUMilli: 500},
		{Name: "gpu-pod-01", CPUMilli: 8000},
		{Name: "gpu-pod-02", CPUMilli: 12000, GPUs: 2, GPUMilli: 1000},
	}
}

func toyCluster() *model.Cluster {
	return &model.Cluster{Nodes: []model.Node{{Name: "a", CPUMilli: 64000, GPUs: 2}, {Name: "b", CPUMilli: 64000, GPUs: 4}}}
}

func names(pods []model.Pod) []string {
	out := make([]string, 0, len(pods))
	for i := range pods {
		out = append(out, pods[i].Name)
	}
	return out
}

// TestTuneGolden is the predecessor's failure log: seed 233, no shuffle, ratio 0.9 of 6,000 milli. 2,500 are asked for;
// the draws are pods 1, 2, 1 and 2, of which the last would pass 5,400: 4,500 + 1,000 for one of its devices.
func TestTuneGolden(t *testing.T) {
	got, err := Tune(ByArrival(toy()), ByName(toy()), toyCluster(), 0.9, NewRand(233))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"gpu-pod-00", "gpu-pod-01", "gpu-pod-02", "gpu-pod-01-tuned-0", "gpu-pod-02-tuned-1", "gpu-pod-01-tuned-2",
	}
	if diff := cmp.Diff(want, names(got)); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func TestTuneRemovesPodsUntilTheTargetIsMet(t *testing.T) {
	for seed := range int64(50) {
		var pods []model.Pod
		for i := range 20 {
			pods = append(pods, model.Pod{Name: fmt.Sprintf("p%02d", i), CPUMilli: 1000, GPUs: 1, GPUMilli: 50 * (i + 1)})
		}
		// 10,500 are asked for, 3,000 may be.
		got, err := Tune(pods, pods, toyCluster(), 0.5, NewRand(seed))
		if err != nil {
			t.Fatal(err)
		}
		demand, last := int64(0), ""
		for i := range got {
			demand += got[i].TotalGPUMilli()
			if got[i].Name <= last {
				t.Fatalf("seed %d: %v is out of order", seed, names(got))
			}
			last = got[i].Name
		}
		if demand > 3000 || demand < 3000-1000 {
			t.Errorf("seed %d: %d milli are asked for, want 2,001 to 3,000", seed, demand)
		}
	}
}

func TestTuneOfWhatCannotBeTuned(t *testing.T) {
	cpuOnly := toy()[1:2]
	for _, c := range []struct {
		name    string
		pods    []model.Pod
		cluster *model.Cluster
	}{
		{"no pods", nil, toyCluster()},
		{"no pod wants a GPU", cpuOnly, toyCluster()},
		{"no node has one", toy(), &model.Cluster{Nodes: []model.Node{{Name: "a", CPUMilli: 1000}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Tune(c.pods, c.pods, c.cluster, 1, NewRand(1)); !errors.Is(err, ErrNothingToTune) {
				t.Errorf("got %v, want ErrNothingToTune", err)
			}
		})
	}
	if _, err := Tune(toy(), toy(), toyCluster(), -1, NewRand(1)); err == nil {
		t.Error("a negative ratio is accepted")
	}
}

func TestOrders(t *testing.T) {
	pods := []model.Pod{{Name: "c", Arrival: 1}, {Name: "a", Arrival: 2}, {Name: "b", Arrival: 1}, {Name: "d"}}
	if diff := cmp.Diff([]string{"d", "b", "c", "a"}, names(ByArrival(pods))); diff != "" {
		t.Errorf("by arrival (-want +got):\n%s", diff)
	}
	shuffled := Shuffle(pods, dice.New(3))
	slices.Reverse(pods)
	if diff := cmp.Diff(names(shuffled), names(Shuffle(pods, dice.New(3)))); diff != "" {
		t.Errorf("the order of the input matters to a shuffle:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, names(ByName(shuffled))); diff != "" {
		t.Errorf("shuffling changed the pods:\n%s", diff)
	}
}

func TestPermuteIsAPermutation(t *testing.T) {
	nodes := make([]model.Node, 10001) // beyond four digits
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("node-%d", i)
	}
	order := Permute(nodes, NewRand(42))
	sorted := slices.Sorted(slices.Values(order))
	for i, at := range sorted {
		if i != at {
			t.Fatalf("position %d holds %d", i, at)
		}
	}
	if slices.IsSorted(order) {
		t.Error("the nodes kept their order")
	}
}

func TestInflate(t *testing.T) {
	// 24,000 of 128,000 CPU and 2,500 of 6,000 GPU milli are asked for: doubling fits or stops before it does not.
	got, err := Inflate(toy(), ByName(toy()), toyCluster(), 2, NewRand(5))
	if err != nil {
		t.Fatal(err)
	}
	gpu := int64(2500)
	for i := range got {
		gpu += got[i].TotalGPUMilli()
	}
	if len(got) > 3 || gpu > 6000 {
		t.Errorf("%d clones, %d milli GPU in all: want at most 3 and 6,000", len(got), gpu)
	}
	if got, err := Inflate(toy(), ByName(toy()), toyCluster(), 1, NewRand(5)); err != nil || len(got) != 0 {
		t.Errorf("ratio 1 adds %v (%v), want none", names(got), err)
	}
}
