package framework_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/framework"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/internal/openb"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
)

// onBoth plays the experiment natively and with the framework, and compares what became of every pod.
func onBoth(t *testing.T, x *simulator.Experiment) *model.Result {
	t.Helper()
	native := play(t, x, simulator.Options{})
	config, err := framework.ConfigFor(&x.Policy)
	if err != nil {
		t.Fatal(err)
	}
	real := play(t, x, simulator.Options{NewScheduler: framework.New(&framework.Options{Config: config, TieBreak: x.Policy.TieBreak})})
	scheduled, unscheduled := native.Count()
	t.Logf("%d pods have a node, %d have none, %d decisions", scheduled, unscheduled, native.Decisions)
	if scheduled == 0 {
		t.Error("no pod has a node, which compares nothing")
	}
	for i := range native.Placements {
		a, b := native.Placements[i], real.Placements[i]
		if (a.Reason == "") != (b.Reason == "") {
			t.Fatalf("pod %d: natively the reason is %q, with the framework %q", i, a.Reason, b.Reason)
		}
		a.Reason, b.Reason = "", "" // the words are each engine's own
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("pod %d, %s (-native +framework):\n%s", i, native.Pods[i].Key(), diff)
		}
	}
	return native
}

func play(t *testing.T, x *simulator.Experiment, options simulator.Options) *model.Result {
	t.Helper()
	result, err := simulator.Run(t.Context(), x, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// small is the published set-up on a thirtieth of a generated cluster, tuned to more than it can hold.
func small(t *testing.T, config policy.Config) *simulator.Experiment {
	t.Helper()
	cluster, pods, err := workload.Published().Generate(1./30, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods {
		pods[i].Arrival, pods[i].Departure = 0, 0
	}
	return &simulator.Experiment{
		Trace: "generated", Cluster: *cluster, Pods: pods, Policy: config,
		Workload: simulator.Workload{Seed: 42, Shuffle: true, TuningRatio: 1.3},
		Typical:  simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1},
	}
}

// TestSamePlacementsOnBothEngines is for every native policy, way to choose devices, and tie break.
func TestSamePlacementsOnBothEngines(t *testing.T) {
	one := func(name string, device policy.DeviceMethod) policy.Config {
		return policy.Config{Scorers: []policy.Scorer{{Name: name, Weight: 1000}}, Device: device}
	}
	dot := policy.Scorer{Name: policy.DotProduct, Weight: 1000, DimExt: policy.Merge, Norm: policy.NormMax}
	random := one(policy.FGD, policy.FGD)
	random.TieBreak = policy.TieRandom
	for name, config := range map[string]policy.Config{
		"FGD":               one(policy.FGD, policy.FGD),
		"FGD, random ties":  random,
		"BestFit":           one(policy.BestFit, policy.DeviceBest),
		"Random":            one(policy.Random, policy.DeviceRandom),
		"GpuPacking":        one(policy.GPUPacking, policy.DeviceBest),
		"GpuClustering":     one(policy.GPUClustering, policy.DeviceWorst),
		"Simon":             one(policy.Simon, policy.DeviceBest),
		"DotProd":           {Scorers: []policy.Scorer{dot}, Device: policy.DeviceBest},
		"DotProd's devices": {Scorers: []policy.Scorer{dot}, Device: policy.DotProduct},
		"a mix": {
			Device:  policy.FGD,
			Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 500}, {Name: policy.BestFit, Weight: 300}, dot},
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			_, unscheduled := onBoth(t, small(t, config)).Count()
			if unscheduled == 0 {
				t.Error("every pod has a node: the cluster was never full")
			}
		})
	}
}

// timed lets the pods of a small experiment come one a second and leave after a minute or more, on eight nodes.
func timed(t *testing.T) *simulator.Experiment {
	t.Helper()
	x := small(t, policy.Config{Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1}}, Device: policy.FGD})
	for i := range x.Pods {
		x.Pods[i].Arrival = time.Duration(i) * time.Second
		x.Pods[i].Departure = x.Pods[i].Arrival + time.Duration(60+i%7*20)*time.Second
	}
	x.Workload = simulator.Workload{Seed: 3}
	x.Cluster.Nodes = x.Cluster.Nodes[:8]
	return x
}

// TestSamePlacementsWhenPodsLeave goes through Remove.
func TestSamePlacementsWhenPodsLeave(t *testing.T) {
	defer goleak.VerifyNone(t)
	left := 0
	for _, p := range onBoth(t, timed(t)).Placements {
		if p.HasDeparted {
			left++
		}
	}
	if left == 0 {
		t.Error("no pod has left")
	}
}

// TestWaitingPodsAreTriedAgain: the framework cannot tell which departure helps, so that it tries more often than native
// policies and places waiting pods at other times; but it places the same ones.
func TestWaitingPodsAreTriedAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	x := timed(t)
	x.Queue = simulator.Queue{Retry: true, RunFullLength: true}
	config, err := framework.ConfigFor(&x.Policy)
	if err != nil {
		t.Fatal(err)
	}
	native := play(t, x, simulator.Options{})
	real := play(t, x, simulator.Options{NewScheduler: framework.New(&framework.Options{Config: config})})
	waited := 0
	for i := range native.Placements {
		a, b := &native.Placements[i], &real.Placements[i]
		if a.Scheduled() != b.Scheduled() || a.HasDeparted != b.HasDeparted {
			t.Errorf("pod %d: natively %+v, with the framework %+v", i, a, b)
		}
		if b.Attempts > 1 && b.Scheduled() {
			waited++
		}
	}
	if waited == 0 {
		t.Error("no pod had to wait")
	}
}

// TestSamePlacementsOnTheTrace is for pods of the published trace on a part of its nodes.
func TestSamePlacementsOnTheTrace(t *testing.T) {
	defer goleak.VerifyNone(t)
	cluster, pods := openb.Cluster(t), openb.Pods(t, "default")
	x := &simulator.Experiment{
		Trace: "default", Cluster: model.Cluster{Nodes: cluster.Nodes[:120]}, Pods: pods,
		Workload: simulator.Workload{Seed: 42, Shuffle: true, TuningRatio: 1.3},
		Typical:  simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1},
		Policy:   policy.Config{Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1000}}, Device: policy.FGD},
	}
	if _, unscheduled := onBoth(t, x).Count(); unscheduled == 0 {
		t.Error("every pod has a node: the cluster was never full")
	}
}
