package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// TestPublishedShape compares with what is known of the published trace: 1,213 nodes with 6,212 GPUs and 107,018 cores;
// 8,152 pods that ask for 98 % of the GPUs and 85,436 cores; run times with the given quantiles.
func TestPublishedShape(t *testing.T) {
	cluster, pods, err := Published().Generate(1, 42)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Validate(); err != nil {
		t.Error(err)
	}
	if err := model.ValidatePods(pods); err != nil {
		t.Error(err)
	}
	cores, _, capacity := cluster.Totals()
	var demand, cpu int64
	var lengths []time.Duration
	for i := range pods {
		demand += pods[i].TotalGPUMilli()
		cpu += pods[i].CPUMilli
		lengths = append(lengths, pods[i].Departure-pods[i].Arrival)
	}
	slices.Sort(lengths)
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance*want {
			t.Errorf("%s: %v, want %v within %v %%", what, got, want, 100*tolerance)
		}
	}
	near("nodes", float64(len(cluster.Nodes)), 1213, 0)
	near("GPUs", float64(capacity)/1000, 6212, 0)
	near("cores", float64(cores)/1000, 107018, 0.01)
	near("pods", float64(len(pods)), 8152, 0)
	near("GPU demand", float64(demand)/float64(capacity), 0.98, 0.01)
	near("CPU demand", float64(cpu)/1000, 85436, 0.03)
	for share, want := range map[float64]float64{0.1: 80, 0.5: 540, 0.9: 6574, 0.99: 99719} {
		near("run time", lengths[int(share*float64(len(lengths)))].Seconds(), want, 0.2)
	}
}

func TestGenerate(t *testing.T) {
	firstCluster, first, err := Published().Generate(0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	cluster, again, err := Published().Generate(0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again) + cmp.Diff(firstCluster, cluster); diff != "" {
		t.Errorf("the same seed gives something else:\n%s", diff)
	}
	_, other, err := Published().Generate(0.1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Diff(first, other) == "" {
		t.Error("another seed gives the same")
	}
	if !slices.IsSortedFunc(first, func(a, b model.Pod) int { return int(a.Arrival - b.Arrival) }) {
		t.Error("the pods are not in the order of their arrival")
	}
}

func TestGenerateFaults(t *testing.T) {
	for name, change := range map[string]func(*Shape) float64{
		"no scale":             func(*Shape) float64 { return 0 },
		"not a number":         func(*Shape) float64 { return math.NaN() },
		"too large":            func(*Shape) float64 { return 1e9 },
		"no durations":         func(s *Shape) float64 { s.Durations = nil; return 1 },
		"durations that fall":  func(s *Shape) float64 { s.Durations[1].Share = 0.6; return 1 },
		"a duration of 0":      func(s *Shape) float64 { s.Durations[0].Length = 0; return 1 },
		"nothing to draw from": func(s *Shape) float64 { s.Pods[0].CPUMilli = nil; return 1 },
		"a negative weight":    func(s *Shape) float64 { s.Pods[1].GPUMilli[0].Weight = -1; return 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := Published()
			if _, _, err := s.Generate(change(s), 1); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}
