package occupancy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

func typical() []gpushare.TypicalPod {
	return []gpushare.TypicalPod{
		{Class: gpushare.Class{CPUMilli: 2000, GPUs: 1, GPUMilli: 500}, Frequency: 0.5},
		{Class: gpushare.Class{CPUMilli: 2000, GPUs: 2, GPUMilli: 1000, Models: "T4"}, Frequency: 0.3},
		{Class: gpushare.Class{CPUMilli: 4000}, Frequency: 0.2},
	}
}

func cluster() *model.Cluster {
	return &model.Cluster{Nodes: []model.Node{
		{Name: "a", CPUMilli: 16000, MemoryBytes: 1000, GPUs: 4, GPUModel: "T4", Labels: map[string]string{"zone": "x"}},
		{Name: "b", CPUMilli: 8000, MemoryBytes: 1000, GPUs: 2, GPUModel: "P100"},
		{Name: "c", CPUMilli: 32000, MemoryBytes: 1000, MaxPods: 3},
		{Name: "d", CPUMilli: 8000, MemoryBytes: 1000, GPUs: 1, GPUModel: "T4"},
	}}
}

// TestSumsAfterManySteps places and removes pods at random; all that is kept up to date must equal a fresh count.
func TestSumsAfterManySteps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	state := New(cluster(), typical())
	type running struct {
		pod     model.Pod
		binding model.Binding
	}
	var pods []running
	for step := range 5000 {
		if len(pods) > 0 && random.IntN(3) == 0 {
			at := random.IntN(len(pods))
			if err := state.Remove(&pods[at].pod, pods[at].binding); err != nil {
				t.Fatal(err)
			}
			pods = slices.Delete(pods, at, at+1)
		} else {
			pod := randomPod(random)
			wish := state.Wish(&pod)
			if nodes := state.Feasible(nil, &wish); len(nodes) > 0 {
				node := nodes[random.IntN(len(nodes))]
				class := gpushare.Class{GPUs: pod.GPUs, GPUMilli: pod.GPUMilli}
				binding := model.Binding{Node: node, GPUs: gpushare.Take(&class, slices.Clone(state.Free(node).Idle))}
				if err := state.Place(&pod, binding); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				pods = append(pods, running{pod, binding})
			}
		}
		fresh := New(cluster(), typical())
		for i := range pods {
			if err := fresh.Place(&pods[i].pod, pods[i].binding); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(fresh.Usage(), state.Usage(), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Fatalf("step %d (-fresh +kept):\n%s", step, diff)
		}
		for node := range cluster().Nodes {
			if diff := cmp.Diff(fresh.Left(node), state.Left(node)); diff != "" {
				t.Fatalf("step %d, node %d (-fresh +kept):\n%s", step, node, diff)
			}
		}
	}
}

func randomPod(random *rand.Rand) model.Pod {
	pod := model.Pod{Name: "p", CPUMilli: 500 * random.Int64N(8), MemoryBytes: random.Int64N(300)}
	switch random.IntN(3) {
	case 0:
		pod.GPUs, pod.GPUMilli = 1, 100*(1+random.IntN(9))
	case 1:
		pod.GPUs, pod.GPUMilli = 1+random.IntN(3), 1000
	}
	if pod.GPUs > 0 && random.IntN(3) == 0 {
		pod.GPUModels = []string{"T4"}
	}
	return pod
}

func TestFeasible(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  model.Pod
		want []int
		says string
	}{
		{"anything", model.Pod{}, []int{0, 1, 2, 3}, ""},
		{"CPU", model.Pod{CPUMilli: 16000}, []int{0, 2}, "2 of 4 nodes have room: 2 too little CPU"},
		{"memory", model.Pod{MemoryBytes: 1001}, nil, "0 of 4 nodes have room: 4 too little memory"},
		{"a share", model.Pod{GPUs: 1, GPUMilli: 1}, []int{0, 1, 3}, ""},
		{"two devices", model.Pod{GPUs: 2, GPUMilli: 1000}, []int{0, 1}, ""},
		{"a model", model.Pod{GPUs: 1, GPUMilli: 1, GPUModels: []string{"P100", "T4"}}, []int{0, 1, 3}, ""},
		{
			"a model of which there are too few",
			model.Pod{GPUs: 2, GPUMilli: 1000, GPUModels: []string{"P100"}},
			[]int{1},
			"1 of 4 nodes have room: 3 another GPU model",
		},
		{"an unknown model", model.Pod{GPUs: 1, GPUMilli: 1, GPUModels: []string{"A100"}}, nil, ""},
		{"models mean nothing without GPUs", model.Pod{GPUModels: []string{"A100"}}, []int{0, 1, 2, 3}, ""},
		{"a node by name", model.Pod{Node: "b"}, []int{1}, ""},
		{"a label", model.Pod{NodeSelector: map[string]string{"zone": "x"}}, []int{0}, ""},
		{"a label with another value", model.Pod{NodeSelector: map[string]string{"zone": "y"}}, nil, ""},
		{"a device", model.Pod{GPUs: 1, GPUMilli: 1, GPUIndexes: []int{1}}, []int{0, 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := New(cluster(), typical())
			wish := state.Wish(&c.pod)
			if got := state.Feasible(nil, &wish); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got := state.Shortage(&wish); c.says != "" && got != c.says {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
}

func TestPlaceRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		pod     model.Pod
		binding model.Binding
	}{
		{"a node that does not exist", model.Pod{}, model.Binding{Node: 4}},
		{"no node", model.Pod{}, model.Binding{Node: model.Unplaced}},
		{"more CPU than there is", model.Pod{CPUMilli: 16001}, model.Binding{}},
		{"a device that does not exist", model.Pod{GPUs: 1, GPUMilli: 1}, model.Binding{GPUs: []int{4}}},
		{"a device below zero", model.Pod{GPUs: 1, GPUMilli: 1}, model.Binding{GPUs: []int{-1}}},
		{"fewer devices than asked for", model.Pod{GPUs: 2, GPUMilli: 1000}, model.Binding{GPUs: []int{1}}},
		{"a device twice", model.Pod{GPUs: 2, GPUMilli: 500}, model.Binding{GPUs: []int{1, 1}}},
		{"more of a device than there is", model.Pod{GPUs: 1, GPUMilli: 1001}, model.Binding{GPUs: []int{1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := New(cluster(), typical())
			if err := state.Place(&c.pod, c.binding); err == nil {
				t.Error("it is accepted")
			}
			if diff := cmp.Diff(New(cluster(), typical()).Usage(), state.Usage()); diff != "" {
				t.Errorf("a refused pod left a trace:\n%s", diff)
			}
		})
	}
	if err := New(cluster(), typical()).Remove(&model.Pod{}, model.Binding{}); err == nil {
		t.Error("a pod leaves an empty node")
	}
}

func TestTypicalCanChange(t *testing.T) {
	state := New(cluster(), typical())
	before, version := state.Usage().Frag.Fragment(), state.Version(0)
	state.SetTypical([]gpushare.TypicalPod{{Class: gpushare.Class{GPUs: 1, GPUMilli: 1}, Frequency: 1}})
	if after := state.Usage().Frag.Fragment(); after != 0 || before == 0 {
		t.Errorf("the fragment was %v and is %v, want some and none", before, after)
	}
	if state.Version(0) == version {
		t.Error("scores that were kept for the node would still be used")
	}
	if got := state.Usage().FragRatio(); math.IsNaN(got) || got != 0 {
		t.Errorf("the ratio is %v, want 0", got)
	}
}
