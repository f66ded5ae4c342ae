package simulator_test

import (
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// BenchmarkRun is the published default experiment: 1,213 nodes, about 10,800 pods. Making the workload is not part of it.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ name, policy string }{
		{"FGD", "FGD"}, {"BestFit", "BestFit"}, {"Random", "Random"}, {"DotProd", "DotProd"}, {"GpuPacking", "GpuPacking"},
	} {
		b.Run("openb/"+c.name, func(b *testing.B) {
			scorer, device := study(c.policy)
			benchmark(b, published(b, "default", 42, scorer, device))
		})
	}
	b.Run("generated/FGD", func(b *testing.B) {
		config := policy.Config{Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1000}}, Device: policy.FGD}
		benchmark(b, generated(b, 1, config))
	})
}

func benchmark(b *testing.B, x *simulator.Experiment) {
	b.Helper()
	decisions := 0
	b.ReportAllocs()
	for b.Loop() {
		result, err := simulator.Run(b.Context(), x, simulator.Options{})
		if err != nil {
			b.Fatal(err)
		}
		decisions += result.Decisions
	}
	b.ReportMetric(float64(decisions)/b.Elapsed().Seconds(), "decisions/s")
}
