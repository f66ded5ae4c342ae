package simulator_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/internal/openb"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// published is the set-up of the published experiments.
func published(tb testing.TB, trace string, seed int64, scorer string, device policy.DeviceMethod) *simulator.Experiment {
	tb.Helper()
	return &simulator.Experiment{
		Trace: trace, Cluster: openb.Cluster(tb), Pods: openb.Pods(tb, trace),
		Workload: simulator.Workload{Seed: seed, Shuffle: true, TuningRatio: 1.3},
		Typical:  simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1},
		Policy: policy.Config{
			Scorers: []policy.Scorer{{Name: scorer, Weight: 1000, DimExt: policy.Merge, Norm: policy.NormMax}}, Device: device,
		},
	}
}

// TestGolden compares with what the predecessor's own simulator placed, pod by pod.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, scorer string
		device       policy.DeviceMethod
		scheduled    int
	}{
		{"fgd", policy.FGD, policy.DeviceMethod(policy.FGD), 8334},
		{"bestfit", policy.BestFit, policy.DeviceBest, 8190},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			folder := openb.Folder(t, "simon-golden")
			result, err := simulator.Run(t.Context(), published(t, "default", 42, c.scorer, c.device), simulator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			comparePlacements(t, result, openb.Rows(t, filepath.Join(folder, "default-42-"+c.file+"-placements.csv")))
			compareCurve(t, result, openb.Rows(t, filepath.Join(folder, "default-42-"+c.file+"-curve.csv")))
			if scheduled, _ := result.Count(); scheduled != c.scheduled {
				t.Errorf("%d pods are scheduled, want %d", scheduled, c.scheduled)
			}
		})
	}
}

func comparePlacements(t *testing.T, result *model.Result, want []map[string]string) {
	t.Helper()
	if len(result.Placements) != len(want) {
		t.Fatalf("%d pods arrived, want %d", len(result.Placements), len(want))
	}
	differ := 0
	for i, row := range want {
		p := &result.Placements[i]
		node := ""
		if p.Scheduled() {
			node = result.Nodes[p.Binding.Node].Name
		}
		got := result.Pods[p.Pod].Name + "," + node + "," + devices(p.Binding.GPUs)
		if expected := row["pod"] + "," + row["node"] + "," + row["gpu_index"]; got != expected {
			if differ++; differ <= 5 {
				t.Errorf("placement %d is %s, want %s", i, got, expected)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d placements differ", differ, len(want))
	}
}

func devices(indexes []int) string {
	var parts []string
	for _, index := range indexes {
		parts = append(parts, strconv.Itoa(index))
	}
	return strings.Join(parts, "-")
}

// compareCurve allows for the four decimals of the file.
func compareCurve(t *testing.T, result *model.Result, want []map[string]string) {
	t.Helper()
	if len(result.Curve) != len(want) {
		t.Errorf("the curve has %d points, want %d", len(result.Curve), len(want))
	}
	for i, row := range want[:min(len(want), len(result.Curve))] {
		allocation, err := strconv.ParseFloat(row["allocation_percent"], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Curve[i].Allocation; got < allocation-0.0001 || got > allocation+0.0001 {
			t.Errorf("allocation at %d %% is %.4f, want %.4f", i, got, allocation)
		}
	}
}
