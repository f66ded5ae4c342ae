package blockio

import "testing"

// perNode is what the scheduler does for each node.
func perNode(tb testing.TB, strategy Strategy) func() int64 {
	tb.Helper()
	s := scorer(tb, ScorerConfig{
		Strategy: strategy, Shape: []ShapePoint{{0, 10}, {60, 4}, {100, 0}}, PressureWeight: 0.5,
	})
	full := withIOPS(supply(1000*mebi, 1000*mebi, 2000*mebi), 100_000, 50_000)
	device := Device{Capacity: full, Report: Report{State: FreshReport, Free: full, Pressure: 0.1, HasPressure: true}}
	pod, others := demand(30*mebi, 20*mebi), demand(400*mebi, 500*mebi)
	pod.IOPS = IOPS{Read: 100, Write: 100}
	model := table(tb, nvme())
	request := Request{Read: 30 * mebi, Write: 20 * mebi, ReadBlock: 2048, WriteBlock: 4096}
	return func() int64 {
		d, err := model.Normalize(request)
		free := device.Free(others.Add(d), d)
		if shortage := Fit(pod, free); shortage != Enough || err != nil {
			return int64(len(shortage.Reason()))
		}
		return s.Score(pod, free, &device).Score
	}
}

func TestNothingIsAllocatedPerNode(t *testing.T) {
	for _, strategy := range []Strategy{LeastAllocated, MostAllocated, RequestedToCapacityRatio} {
		run := perNode(t, strategy)
		if allocations := testing.AllocsPerRun(100, func() { run() }); allocations != 0 {
			t.Errorf("strategy %d: %v allocations, want none", strategy, allocations)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	full := supply(1000*mebi, 1000*mebi, 2000*mebi)
	device := Device{Capacity: full, Report: Report{State: FreshReport, Free: full}}
	pod, others := demand(30*mebi, 20*mebi), demand(400*mebi, 500*mebi)
	b.ReportAllocs()
	for b.Loop() {
		if Fit(pod, device.Free(others, Demand{})) != Enough {
			b.Fatal("does not fit")
		}
	}
}

func BenchmarkScore(b *testing.B) {
	full := supply(1000*mebi, 1000*mebi, 2000*mebi)
	device := Device{Capacity: full}
	pod := demand(30*mebi, 20*mebi)
	for name, strategy := range map[string]Strategy{"least": LeastAllocated, "ratio": RequestedToCapacityRatio} {
		b.Run(name, func(b *testing.B) {
			s := scorer(b, ScorerConfig{Strategy: strategy, Shape: []ShapePoint{{0, 10}, {60, 4}, {100, 0}}})
			b.ReportAllocs()
			for b.Loop() {
				if s.Score(pod, full, &device).Score == 0 {
					b.Fatal("no score")
				}
			}
		})
	}
}

func BenchmarkNormalize(b *testing.B) {
	model := table(b, nvme())
	request := Request{Read: 30 * mebi, Write: 20 * mebi, ReadBlock: 2048, WriteBlock: 4096}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Normalize(request); err != nil {
			b.Fatal(err)
		}
	}
}
