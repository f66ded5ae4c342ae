package policy

import (
	"slices"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
)

// on is a policy over nodes whose devices have the given parts idle, with 64 cores free each.
func on(t *testing.T, config *Config, nodes ...[]int) *Native {
	t.Helper()
	cluster := &model.Cluster{}
	for i, idle := range nodes {
		cluster.Nodes = append(cluster.Nodes, model.Node{
			Name: string(rune('a' + i)), CPUMilli: 64000, MemoryBytes: 1 << 40, GPUs: len(idle),
		})
	}
	typical := []gpushare.TypicalPod{
		{Class: gpushare.Class{CPUMilli: 12000, GPUs: 2, GPUMilli: 1000}, Frequency: 1.0 / 3},
		{Class: gpushare.Class{CPUMilli: 8000}, Frequency: 1.0 / 3},
		{Class: gpushare.Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 500}, Frequency: 1.0 / 3},
	}
	state := occupancy.New(cluster, typical)
	for i, idle := range nodes {
		for device, free := range idle {
			if free < model.GPUMilli {
				used := model.Pod{Name: "used", GPUs: 1, GPUMilli: model.GPUMilli - free}
				if err := state.Place(&used, model.Binding{Node: i, GPUs: []int{device}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	n, err := New(config, &engine.Setup{Cluster: cluster, State: state, Typical: typical, Rand: dice.New(1)})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func only(scorer string) *Config { return &Config{Scorers: []Scorer{{Name: scorer, Weight: 1}}} }

func class(cpuMilli int64, gpus, milli int) *classKey {
	return &classKey{Class: gpushare.Class{CPUMilli: cpuMilli, GPUs: gpus, GPUMilli: milli}}
}

func TestPacking(t *testing.T) {
	idle := func(devices int) []int { return slices.Repeat([]int{1000}, devices) }
	for _, c := range []struct {
		name  string
		idle  []int
		class *classKey
		want  int64
	}{
		// The first four are the predecessor's goldens.
		{"two whole devices of a used node: 50 - 2", []int{200, 1000, 1000, 500}, class(0, 2, 1000), 48},
		{"two used devices with 20 % and 50 % idle: 100 - 70 / 10", []int{200, 1000, 1000, 500}, class(0, 2, 200), 93},
		{"an idle node with four devices: 33 - 4", idle(4), class(0, 1, 500), 29},
		{"an idle node with eight devices: 33 - 8", idle(8), class(0, 1, 500), 25},
		{"pods without GPUs do not care", idle(4), class(1000, 0, 0), 0},
		{"eight of nine whole devices are worth no less than 33", append(idle(40), 500), class(0, 30, 1000), 33},
		{"the fullest device with room: 100 - 50 / 10", []int{200, 1000, 1000, 500}, class(0, 1, 300), 95},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := on(t, only(GPUPacking), c.idle).packing(0, c.class); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestDescentScores is the predecessor's golden: the first pod of half a device scores 41, the second beside it 58.
func TestDescentScores(t *testing.T) {
	n := on(t, only(FGD), []int{1000, 1000})
	share := model.Pod{Name: "share", CPUMilli: 4000, GPUs: 1, GPUMilli: 500}
	for i, want := range []int64{41, 58} {
		if got := n.descent(0, class(4000, 1, 500)); got != want {
			t.Errorf("pod %d scores %d, want %d", i, got, want)
		}
		if err := n.state.Place(&share, model.Binding{GPUs: []int{0}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := n.descent(0, class(0, 0, 0)); got != 100 {
		t.Errorf("a pod that asks for nothing scores %d, want 100", got)
	}
}

func TestBestFit(t *testing.T) {
	n := on(t, only(BestFit), []int{1000, 1000}, []int{500})
	// 60 of 128 cores and 1.5 of 8 devices are left: 100 x (1 - (0.46875 + 0.1875) / 2) = 67.2.
	if got := n.bestFit(0, class(4000, 1, 500)); got != 67 {
		t.Errorf("the larger node scores %d, want 67", got)
	}
	// Nothing is left of the device: 100 x (1 - 0.46875 / 2) = 76.6.
	if got := n.bestFit(1, class(4000, 1, 500)); got != 76 {
		t.Errorf("the smaller node scores %d, want 76", got)
	}
}

func TestClustering(t *testing.T) {
	// The nodes run nothing, a share, a share and a pod with one device, and a pod with one device.
	n := on(t, only(GPUClustering), []int{1000, 1000}, []int{500, 1000}, []int{500, 0}, []int{0, 1000})
	// 25 x (8000 - idle) / 8000 adds 18, 20, 23 and 21.
	for node, want := range []int64{25 + 18, 75 + 20, 50 + 23, 0 + 21} {
		if got := n.clustering(node, class(0, 1, 500)); got != want {
			t.Errorf("a share scores %d on node %d, want %d", got, node, want)
		}
	}
}

func TestDotProduct(t *testing.T) {
	for _, c := range []struct {
		name         string
		dimExt, norm string
		idle         []int
		class        *classKey
		want         int64
	}{
		// Left: 64 of 128 cores, 1.7 of 8 devices; asked for: 32 cores, 0.5 devices. The mean of 0.5 x 0.25 and
		// 0.2125 x 0.0625 is 0.0691, 100 x (1 - 0.0691) = 93.
		{"all devices together", Merge, NormMax, []int{700, 1000}, class(32000, 1, 500), 93},
		// Of the node's 64 cores and 2 devices: (1 x 0.5 + 0.85 x 0.25) / 2 = 0.356.
		{"in parts of the node", Merge, NormNode, []int{700, 1000}, class(32000, 1, 500), 64},
		// tanh(2/10) = 0.1974, tanh(3.4/10) = 0.3275, tanh(1/10) = 0.0997: mean 0.0262.
		{"in parts of the request", Merge, NormPod, []int{700, 1000}, class(32000, 1, 500), 97},
		// The partly used device: (0.125 + 0.0875 x 0.0625) / 2 = 0.0652; the idle one: (0.125 + 0.0078) / 2 = 0.0664.
		{"a device at a time", Share, NormMax, []int{700, 1000}, class(32000, 1, 500), 93},
		// The partly used device has 0.7/1.7 of the CPU: (0.2059 x 0.25 + 0.0055) / 2 = 0.0285.
		{"a device at a time, CPU divided", Divide, NormMax, []int{700, 1000}, class(32000, 1, 500), 97},
		// Three dimensions: (0.125 + 0.0875 x 0.0625) / 3 = 0.0435.
		{"a dimension for each device", Extend, NormMax, []int{700, 1000}, class(32000, 1, 500), 95},
		// (0.125 + 0) / 2 = 0.0625.
		{"pods without GPUs", Share, NormMax, []int{700, 1000}, class(32000, 0, 0), 93},
		{"pods without GPUs, three dimensions", Extend, NormMax, []int{700, 1000}, class(32000, 0, 0), 95},
		{"a pod that asks for nothing", Share, NormMax, []int{700, 1000}, class(0, 0, 0), 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := on(t, only(DotProduct), c.idle)
			d, err := n.dotProduct(&Scorer{DimExt: c.dimExt, Norm: c.norm})
			if err != nil {
				t.Fatal(err)
			}
			if got := d.score(0, c.class); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestSimon(t *testing.T) {
	n := on(t, only(Simon), nil)
	// 16 of 64 cores: 16 / 48 = 0.33.
	if got := n.simon(0, class(16000, 0, 0)); got != 33 {
		t.Errorf("CPU: got %d, want 33", got)
	}
	// A quarter of the memory is 1/3 of the rest, too; half is all of it.
	if got := n.simon(0, &classKey{memoryBytes: 1 << 39}); got != 100 {
		t.Errorf("memory: got %d, want 100", got)
	}
}

func TestStretch(t *testing.T) {
	for _, c := range []struct{ scores, want []int64 }{
		{[]int64{40, 60, 50}, []int64{0, 100, 50}},
		{[]int64{7, 7}, []int64{0, 0}},
		{[]int64{0, 3, 1}, []int64{0, 100, 33}},
	} {
		got := slices.Clone(c.scores)
		if stretch(got); !slices.Equal(got, c.want) {
			t.Errorf("%v becomes %v, want %v", c.scores, got, c.want)
		}
	}
}
