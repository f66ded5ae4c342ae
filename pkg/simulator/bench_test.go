package simulator_test

import (
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// BenchmarkRun is the published default experiment: 1,213 nodes, about 10,800 pods. Reading the trace is not part of it.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name, scorer string
		device       policy.DeviceMethod
	}{
		{"FGD", policy.FGD, policy.FGD},
		{"BestFit", policy.BestFit, policy.DeviceBest},
		{"Random", policy.Random, policy.DeviceRandom},
		{"DotProd", policy.DotProduct, policy.DeviceBest},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := published(b, "default", 42, c.scorer, c.device)
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
		})
	}
}
