package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

func TestConfigFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no scorer", Config{}, "expected at least one of RandomScore, BestFitScore"},
		{"unknown scorer", *only("RLSchedulerScore"), `score policy "RLSchedulerScore": expected one of`},
		{"no weight", Config{Scorers: []Scorer{{Name: FGD}}}, "weight of FGDScore is 0"},
		{"unknown device choice", Config{Scorers: only(FGD).Scorers, Device: "RLSchedulerScore"}, `device choice "RLSchedulerScore": expected best`},
		{"unknown tie break", Config{Scorers: only(FGD).Scorers, TieBreak: "last"}, `tie break "last"`},
		{"unknown dimExtMethod", Config{Scorers: []Scorer{{Name: DotProduct, Weight: 1, DimExt: "split"}}}, `dimExtMethod "split"`},
		{"unknown normMethod", Config{Scorers: []Scorer{{Name: DotProduct, Weight: 1, Norm: "min"}}}, `normMethod "min"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(&c.config, &engine.Setup{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// nodesOf schedules the pod often and returns the nodes that it got.
func nodesOf(t *testing.T, n *Native, spec *model.Pod, times int) map[int]int {
	t.Helper()
	nodes := map[int]int{}
	for range times {
		binding, err := n.Schedule(t.Context(), 0, spec)
		if err != nil {
			t.Fatal(err)
		}
		nodes[binding.Node]++
	}
	return nodes
}

func TestTies(t *testing.T) {
	pod := model.Pod{Name: "p", CPUMilli: 1000, GPUs: 1, GPUMilli: 500}
	config := only(BestFit)
	if got := nodesOf(t, on(t, config, []int{1000}, []int{500}, []int{500}), &pod, 20); got[1] != 20 {
		t.Errorf("by name: got %v, want the first of the two fuller nodes always", got)
	}
	config.TieBreak = TieRandom
	// 3,000 draws between two: 1,500 each, with a standard deviation of 27.
	got := nodesOf(t, on(t, config, []int{1000}, []int{500}, []int{500}), &pod, 3000)
	if got[0] != 0 || got[1] < 1350 || got[2] < 1350 {
		t.Errorf("random: got %v, want the two fuller nodes about equally often", got)
	}
}

func TestRandomIsUniformOverFeasibleNodes(t *testing.T) {
	pod := model.Pod{Name: "p", GPUs: 1, GPUMilli: 500}
	got := nodesOf(t, on(t, only(Random), []int{1000}, []int{400}, []int{500}), &pod, 3000)
	if got[1] != 0 || got[0] < 1350 || got[2] < 1350 {
		t.Errorf("got %v, want the first and the last about equally often", got)
	}
}

func TestDevices(t *testing.T) {
	idle := []int{300, 1000, 600, 1000}
	for _, c := range []struct {
		device DeviceMethod
		pod    model.Pod
		want   [][]int // any of these
	}{
		{DeviceBest, model.Pod{GPUs: 1, GPUMilli: 500}, [][]int{{2}}},
		{DeviceWorst, model.Pod{GPUs: 1, GPUMilli: 500}, [][]int{{1}}},
		{DeviceRandom, model.Pod{GPUs: 1, GPUMilli: 500}, [][]int{{1}, {2}, {3}}},
		{FGD, model.Pod{GPUs: 1, GPUMilli: 500}, [][]int{{2}}},
		{DotProduct, model.Pod{GPUs: 1, GPUMilli: 500}, [][]int{{2}}},
		{DeviceBest, model.Pod{GPUs: 2, GPUMilli: 1000}, [][]int{{1, 3}}},
		{DeviceBest, model.Pod{GPUs: 1, GPUMilli: 200, GPUIndexes: []int{3}}, [][]int{{3}}},
		{DeviceBest, model.Pod{CPUMilli: 1}, [][]int{nil}},
	} {
		config := only(FGD)
		config.Device = c.device
		binding, err := on(t, config, idle).Schedule(t.Context(), 0, &c.pod)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(c.want, func(want []int) bool { return slices.Equal(want, binding.GPUs) }) {
			t.Errorf("%s for %+v: got %v, want one of %v", c.device, c.pod, binding.GPUs, c.want)
		}
	}
}

func TestNoRoomSaysWhy(t *testing.T) {
	n := on(t, only(FGD), []int{400}, []int{}, []int{1000})
	_, err := n.Schedule(t.Context(), 0, &model.Pod{Name: "p", GPUs: 1, GPUMilli: 500, Node: "b"})
	if !errors.Is(err, engine.ErrNoFit) {
		t.Fatalf("got %v, want ErrNoFit", err)
	}
	if want := "0 of 3 nodes have room: 2 too little idle on GPUs, 1 another node asked for"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
}

// TestMixIsTheWeightedSum compares cached and stretched scores with those computed by hand after every placement.
func TestMixIsTheWeightedSum(t *testing.T) {
	config := &Config{Scorers: []Scorer{{Name: FGD, Weight: 3}, {Name: BestFit, Weight: 2}, {Name: GPUPacking, Weight: 1}}}
	n := on(t, config, []int{1000, 1000}, []int{500, 1000}, []int{300}, []int{1000, 1000, 1000, 1000})
	random := dice.New(7)
	for i := range 60 {
		spec := model.Pod{Name: "p", CPUMilli: int64(1000 * random.Intn(4)), GPUs: 1, GPUMilli: 100 * (1 + random.Intn(3))}
		binding, err := n.Schedule(t.Context(), i, &spec)
		if errors.Is(err, engine.ErrNoFit) {
			break
		}
		if want := byHand(n, &spec); binding.Node != want {
			t.Fatalf("pod %d goes to node %d, want %d", i, binding.Node, want)
		}
		if err := n.state.Place(&spec, binding); err != nil {
			t.Fatal(err)
		}
	}
}

func byHand(n *Native, spec *model.Pod) int {
	wish := n.state.Wish(spec)
	nodes := n.state.Feasible(nil, &wish)
	key := &classKey{Class: ClassOf(spec)}
	bestFits := make([]int64, len(nodes))
	for i, node := range nodes {
		bestFits[i] = n.bestFit(node, key)
	}
	stretch(bestFits)
	best, most := -1, int64(-1)
	for i, node := range nodes {
		if sum := 3*n.descent(node, key) + 2*bestFits[i] + n.packing(node, key); sum > most {
			best, most = node, sum
		}
	}
	return best
}
