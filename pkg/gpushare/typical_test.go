package gpushare

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTypical(t *testing.T) {
	cpu := Class{CPUMilli: 8000}
	share := Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 500}
	one := Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 1000}
	eight := Class{CPUMilli: 4000, GPUs: 8, GPUMilli: 1000}
	// Ten pods: 4 with a share, 3 without GPU, 2 with one GPU, 1 with eight.
	pods := slices.Concat(slices.Repeat([]Class{share}, 4), slices.Repeat([]Class{cpu}, 3), slices.Repeat([]Class{one}, 2), []Class{eight})
	for _, c := range []struct {
		name       string
		popularity Popularity
		want       []TypicalPod
	}{
		{
			"half of all pods need two classes",
			Popularity{Threshold: 50, Step: 1, IncludeCPUPods: true},
			[]TypicalPod{{share, 4.0 / 7}, {cpu, 3.0 / 7}},
		},
		{
			"a step of three takes one more",
			Popularity{Threshold: 50, Step: 3, IncludeCPUPods: true},
			[]TypicalPod{{share, 4.0 / 9}, {cpu, 3.0 / 9}, {one, 2.0 / 9}},
		},
		{
			"pods without GPUs left out",
			Popularity{Threshold: 100, Step: 1},
			[]TypicalPod{{share, 4.0 / 7}, {one, 2.0 / 7}, {eight, 1.0 / 7}},
		},
		{
			// Shares count 4; whole GPUs 2 x (1 + 1) = 4 and 1 x (1 + 8) = 9. Equals: the larger share first.
			"whole GPUs count by their number",
			Popularity{Threshold: 100, Step: 1, GPUWeight: 1},
			[]TypicalPod{{eight, 9.0 / 17}, {one, 4.0 / 17}, {share, 4.0 / 17}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Typical(pods, c.popularity), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("typical pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTypicalOfNoPods(t *testing.T) {
	if got := Typical(nil, Popularity{Threshold: 95, Step: 1}); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}

// FuzzMeasure takes any request and any node: what is idle is always accounted for, and nothing panics.
func FuzzMeasure(f *testing.F) {
	f.Add(int64(4000), 1, 500, "T4|A10", int64(64000), 1000, 300)
	f.Add(int64(-1), -2, 5000, "||", int64(-5), 700, 0)
	f.Add(int64(math.MaxInt64), math.MaxInt, math.MaxInt, "", int64(0), 1000, 1000)
	f.Fuzz(func(t *testing.T, cpu int64, gpus, milli int, models string, freeCPU int64, first, second int) {
		idle := []int{min(max(first, 0), 1000), min(max(second, 0), 1000)}
		meter := NewMeter([]TypicalPod{{Class{cpu, gpus, milli, models}, 1}}, []string{"T4"})
		amounts := meter.Measure(Free{CPUMilli: freeCPU, Idle: idle})
		sum := 0.0
		for _, amount := range amounts {
			sum += amount
		}
		if want := float64(idle[0] + idle[1]); sum != want {
			t.Errorf("%v of %v are accounted for", sum, want)
		}
	})
}
