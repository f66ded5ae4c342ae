package simulator_test

import (
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
)

// generated is the published set-up with a generated trace.
func generated(tb testing.TB, scale float64, config policy.Config) *simulator.Experiment {
	tb.Helper()
	cluster, pods, err := workload.Published().Generate(scale, 1)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range pods {
		pods[i].Arrival, pods[i].Departure = 0, 0 // the study fills the cluster and never empties it
	}
	return &simulator.Experiment{
		Trace: "generated", Cluster: *cluster, Pods: pods, Policy: config,
		Workload: simulator.Workload{Seed: 42, Shuffle: true, TuningRatio: 1.3},
		Typical:  simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1},
	}
}

// TestStudyOnGeneratedTrace holds what the study found, on a trace that everybody has: FGD leaves less unallocated than
// BestFit, BestFit less than a random choice; and FGD owes its advantage to ties going to the first node.
func TestStudyOnGeneratedTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("four runs at full size")
	}
	final := map[string]float64{}
	for name, config := range map[string]policy.Config{
		"FGD":              {Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1000}}, Device: policy.FGD},
		"FGD, random ties": {Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1000}}, Device: policy.FGD, TieBreak: policy.TieRandom},
		"BestFit":          {Scorers: []policy.Scorer{{Name: policy.BestFit, Weight: 1000}}},
		"Random":           {Scorers: []policy.Scorer{{Name: policy.Random, Weight: 1000}}, Device: policy.DeviceRandom},
	} {
		result := run(t, generated(t, 1, config))
		final[name] = result.Curve[len(result.Curve)-1].Allocation
	}
	t.Logf("allocation at 130 %%: %v", final)
	if final["FGD"] < final["BestFit"]+1 || final["BestFit"] < final["Random"]+1 || final["FGD"] < final["FGD, random ties"]+1 {
		t.Errorf("allocation at 130 %%: %v, want FGD > BestFit > Random and FGD > FGD with random ties, by a point at least", final)
	}
}
