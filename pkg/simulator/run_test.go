package simulator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/deschedule"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
)

// small is an experiment of a few dozen pods on six nodes.
func small(scorer string) *simulator.Experiment {
	x := &simulator.Experiment{
		Trace:    "small",
		Workload: simulator.Workload{Seed: 7, Shuffle: true},
		Typical:  simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1},
		Policy:   policy.Config{Scorers: []policy.Scorer{{Name: scorer, Weight: 1000}}},
	}
	for i := range 6 {
		x.Cluster.Nodes = append(x.Cluster.Nodes, model.Node{
			Name: fmt.Sprintf("node-%d", i), CPUMilli: 32000, MemoryBytes: 1 << 37, GPUs: 2 + 2*(i%2), GPUModel: []string{"T4", "P100"}[i%2],
		})
	}
	for i := range 40 {
		pod := model.Pod{Namespace: "team", Name: fmt.Sprintf("pod-%02d", i), CPUMilli: int64(1000 * (1 + i%5)), MemoryBytes: 1 << 30}
		if i%4 > 0 {
			pod.GPUs, pod.GPUMilli = 1, []int{0, 300, 500, 1000}[i%4]
		}
		if i%7 == 0 && pod.GPUs > 0 {
			pod.GPUModels = []string{"P100"}
		}
		x.Pods = append(x.Pods, pod)
	}
	return x
}

func run(t *testing.T, x *simulator.Experiment) *model.Result {
	t.Helper()
	result, err := simulator.Run(t.Context(), x, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// indifferent is a network to which all nodes are equal.
func indifferent(t *testing.T) *mlp.Network {
	t.Helper()
	network, err := mlp.NewNetwork([]mlp.Layer{{
		Inputs: feature.Inputs, Outputs: 1, Weights: make([]float32, feature.Inputs), Bias: make([]float32, 1),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return network
}

func TestSameExperimentSameResult(t *testing.T) {
	for _, scorer := range policy.Names() {
		t.Run(scorer, func(t *testing.T) {
			x := small(scorer)
			x.Workload.TuningRatio = 1.3
			x.Policy.Device, x.Policy.TieBreak = policy.DeviceRandom, policy.TieRandom
			x.Policy.Network = indifferent(t)
			first := run(t, x)
			if diff := cmp.Diff(first, run(t, x)); diff != "" {
				t.Errorf("a second run differs:\n%s", diff)
			}
			x.Workload.Seed++
			if cmp.Diff(first.Placements, run(t, x).Placements) == "" {
				t.Error("another seed gives the same placements")
			}
		})
	}
}

// TestStages plays everything that can follow the first stage.
func TestStages(t *testing.T) {
	x := small(policy.Random) // which leaves something to repair
	x.Pods = x.Pods[:24]
	x.Inflation.Ratio = 1.5
	x.NewWorkload = x.Pods[:8]
	x.Deschedule = simulator.Deschedule{Policy: deschedule.FragMultiPod, Ratio: 0.2}
	x.Daemons = []model.Pod{{Name: "daemon-3", Node: "node-3", CPUMilli: 100}}
	x.Apps = []simulator.App{{Name: "web", Pods: []model.Pod{{Name: "web-0", CPUMilli: 500}}}}
	result := run(t, x)
	var tags []string
	for _, stage := range result.Stages {
		tags = append(tags, stage.Tag)
		checkUsage(t, result, &stage)
	}
	want := []string{"InitSchedule", "ScheduleInflation", "PostEviction", "PostDeschedule", "DescheduleInflation"}
	if diff := cmp.Diff(want, tags); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if evicted := result.Stages[2].Evicted; len(evicted) == 0 || len(evicted) > 5 {
		t.Errorf("%d of 25 pods were evicted, want 1 to 5", len(evicted))
	}
	if inflated := result.Stages[1].Inflated; inflated == 0 || inflated > 13 {
		t.Errorf("%d clones were added to 25 pods, want 1 to 13", inflated)
	}
	if got := len(result.Pods); got != 26 {
		t.Errorf("the result has %d pods, want 24, a daemon and an app's", got)
	}
	if p := result.Placements[0]; result.Nodes[p.Binding.Node].Name != "node-3" {
		t.Errorf("the daemon runs on %s, want node-3", result.Nodes[p.Binding.Node].Name)
	}
}

// checkUsage sums up a stage's placements.
func checkUsage(t *testing.T, result *model.Result, stage *model.Stage) {
	t.Helper()
	if stage.Inflated > 0 {
		return // clones are no part of the placements
	}
	var cpu, gpu int64
	for _, p := range stage.Placements {
		if p.Binding.Node != model.Unplaced {
			cpu += result.Pods[p.Pod].CPUMilli
			gpu += result.Pods[p.Pod].TotalGPUMilli()
		}
	}
	if cpu != stage.Usage.UsedCPUMilli || gpu != stage.Usage.UsedGPUMilli {
		t.Errorf("%s: %d and %d are used, the placements sum up to %d and %d",
			stage.Tag, stage.Usage.UsedCPUMilli, stage.Usage.UsedGPUMilli, cpu, gpu)
	}
}

func TestInputFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*simulator.Experiment)
		want   string
	}{
		{"no nodes", func(x *simulator.Experiment) { x.Cluster.Nodes = nil }, "cluster: the cluster has no nodes"},
		{
			"a node name twice", func(x *simulator.Experiment) { x.Cluster.Nodes[1].Name = "node-0" },
			`node 1: name "node-0" is that of node 0`,
		},
		{"negative CPU of a node", func(x *simulator.Experiment) { x.Cluster.Nodes[1].CPUMilli = -1 }, "node 1 (node-1): cpu milli is -1"},
		{"a billion GPUs", func(x *simulator.Experiment) { x.Cluster.Nodes[1].GPUs = 1e9 }, "gpu count is 1000000000, expected 0 to 1024"},
		{
			"a pod name twice", func(x *simulator.Experiment) { x.Pods[2].Name = "pod-00" },
			`pod 2: name "team/pod-00" is that of pod 0`,
		},
		{
			"two GPUs with 500 milli", func(x *simulator.Experiment) { x.Pods[2].GPUs = 2 },
			"pod 2 (team/pod-02): gpu count is 2 with gpu milli 500",
		},
		{"5000 milli", func(x *simulator.Experiment) { x.Pods[2].GPUMilli = 5000 }, "gpu milli is 5000, expected 1 to 1000 per GPU"},
		{"milli without GPU", func(x *simulator.Experiment) { x.Pods[0].GPUMilli = 500 }, "gpu milli is 500 without a gpu count"},
		{"negative CPU", func(x *simulator.Experiment) { x.Pods[0].CPUMilli = -5 }, "cpu milli is -5"},
		{"negative memory", func(x *simulator.Experiment) { x.Pods[0].MemoryBytes = -5 }, "memory bytes is -5"},
		{"negative GPUs", func(x *simulator.Experiment) { x.Pods[0].GPUs = -5 }, "gpu count is -5"},
		{"leaving before arriving", func(x *simulator.Experiment) {
			x.Pods[0].Arrival, x.Pods[0].Departure = time.Minute, time.Second
		}, "departure 1s is before the arrival 1m0s"},
		{"a device index too many", func(x *simulator.Experiment) { x.Pods[1].GPUIndexes = []int{0, 1} }, "gpu index names 2 devices"},
		{"an unknown score policy", func(x *simulator.Experiment) { x.Policy.Scorers[0].Name = "Best" }, `score policy "Best"`},
		{"an unknown descheduling policy", func(x *simulator.Experiment) { x.Deschedule.Policy = "frag" }, `descheduling policy "frag"`},
		{"an absurd popularity", func(x *simulator.Experiment) { x.Typical.PopularityThreshold = 101 }, "typical pods: threshold 101"},
		{"a negative tuning ratio", func(x *simulator.Experiment) { x.Workload.TuningRatio = -1 }, "tuning ratio -1"},
		{"an endless tuning ratio", func(x *simulator.Experiment) { x.Workload.TuningRatio = 1e9 }, "tuning ratio 1e+09"},
		{"a negative back-off", func(x *simulator.Experiment) { x.Queue.MaxBackoff = -1 }, "back-off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := small(policy.FGD)
			c.change(x)
			_, err := simulator.Run(t.Context(), x, simulator.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestUnusualInput(t *testing.T) {
	cpuOnly := small(policy.FGD)
	for i := range cpuOnly.Pods {
		cpuOnly.Pods[i].GPUs, cpuOnly.Pods[i].GPUMilli = 0, 0
	}
	if scheduled, _ := run(t, cpuOnly).Count(); scheduled != 40 {
		t.Errorf("%d of 40 pods without GPUs are scheduled", scheduled)
	}
	cpuOnly.Workload.TuningRatio = 1.3
	if _, err := simulator.Run(t.Context(), cpuOnly, simulator.Options{}); !errors.Is(err, workload.ErrNothingToTune) {
		t.Errorf("tuning pods without GPUs gives %v, want ErrNothingToTune", err)
	}

	noGPUs := small(policy.FGD)
	for i := range noGPUs.Cluster.Nodes {
		noGPUs.Cluster.Nodes[i].GPUs = 0
	}
	if scheduled, unscheduled := run(t, noGPUs).Count(); scheduled != 10 || unscheduled != 30 {
		t.Errorf("on nodes without GPUs %d pods are scheduled and %d are not, want 10 and 30", scheduled, unscheduled)
	}

	noPods := small(policy.FGD)
	noPods.Pods = nil
	if result := run(t, noPods); len(result.Placements) != 0 || len(result.Stages) != 1 {
		t.Errorf("no pods: %+v", result)
	}

	many := small(policy.BestFit)
	for i := len(many.Cluster.Nodes); i < 10001; i++ {
		many.Cluster.Nodes = append(many.Cluster.Nodes, model.Node{Name: fmt.Sprintf("node-%d", i), CPUMilli: 1000})
	}
	if scheduled, _ := run(t, many).Count(); scheduled == 0 {
		t.Error("nothing is scheduled on 10,001 nodes")
	}
}

// FuzzRun takes any few pods and nodes: an error, or a result in which nobody got more than there is.
func FuzzRun(f *testing.F) {
	f.Add(int64(1), uint8(3), int64(4000), 2, int64(500), 1, 500, "T4", 1.3, int64(10), int64(20))
	f.Add(int64(1), uint8(0), int64(-4000), -2, int64(-500), -1, 5000, "|", -1.3, int64(-10), int64(20))
	f.Add(int64(1), uint8(5), int64(0), 0, int64(0), 0, 0, "", 0.0, int64(0), int64(0))
	f.Add(int64(9), uint8(8), int64(1<<60), 1000, int64(1<<60), 2, 1000, "", 0.5, int64(1<<60), int64(1<<62))
	f.Fuzz(func(t *testing.T, seed int64, pods uint8, nodeCPU int64, nodeGPUs int, cpu int64, gpus, milli int, models string,
		ratio float64, arrival, departure int64,
	) {
		x := &simulator.Experiment{
			Workload: simulator.Workload{Seed: seed, Shuffle: seed%2 == 0, TuningRatio: min(ratio, 3)},
			Policy:   policy.Config{Scorers: []policy.Scorer{{Name: policy.Names()[uint64(seed)%7], Weight: 1}}},
			Queue:    simulator.Queue{Retry: seed%3 == 0, RunFullLength: seed%5 == 0},
		}
		for i := range 3 {
			x.Cluster.Nodes = append(x.Cluster.Nodes, model.Node{
				Name: fmt.Sprint(i), CPUMilli: nodeCPU, MemoryBytes: 1 << 30, GPUs: nodeGPUs - i, GPUModel: "T4",
			})
		}
		for i := range pods {
			x.Pods = append(x.Pods, model.Pod{
				Name: fmt.Sprint(i), CPUMilli: cpu + int64(i), GPUs: gpus, GPUMilli: milli, GPUModels: strings.Fields(models),
				Arrival: time.Duration(arrival) + time.Duration(i), Departure: time.Duration(departure),
			})
		}
		result, err := simulator.Run(t.Context(), x, simulator.Options{})
		if err != nil {
			return
		}
		usage := result.Stages[0].Usage
		if usage.UsedCPUMilli > usage.TotalCPUMilli || usage.UsedGPUMilli > usage.TotalGPUMilli || usage.UsedGPUMilli < 0 {
			t.Errorf("more is used than there is: %+v", usage)
		}
	})
}
