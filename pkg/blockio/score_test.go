package blockio

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func scorer(t testing.TB, config ScorerConfig) *Scorer {
	t.Helper()
	s, err := NewScorer(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScoresOfThePredecessor are its own vectors.
func TestScoresOfThePredecessor(t *testing.T) {
	cases := map[string]struct {
		free        Supply
		demand      Demand
		least, most int64
	}{
		"ratio 0.8: (400/500 + 400/500) / 2": {free: supply(500, 500, 1000), demand: demand(400, 400), least: 19, most: 80},
		"ratio 0.5: (400/500 + 100/500) / 2": {free: supply(500, 500, 1000), demand: demand(400, 100), least: 50, most: 50},
		"ratio 0.1":                          {free: supply(1000, 1000, 2000), demand: demand(100, 100), least: 90, most: 10},
		"25Mi of 50Mi":                       {free: supply(50*mebi, 50*mebi, 100*mebi), demand: demand(25*mebi, 25*mebi), least: 50, most: 50},
		"the seed's pod on a free device":    {free: supply(1000*mebi, 1000*mebi, 2000*mebi), demand: demand(900*mebi, 900*mebi), least: 9, most: 90},
		"its pod of 30/20Mi on node A":       {free: supply(1000*mebi, 1000*mebi, 2000*mebi), demand: demand(30*mebi, 20*mebi), least: 97, most: 2},
		"the same on node B, which is worse": {free: supply(100*mebi, 100*mebi, 200*mebi), demand: demand(30*mebi, 20*mebi), least: 75, most: 25},
		"all that is left":                   {free: supply(10, 10, 20), demand: demand(10, 10), least: 0, most: 100},
		"nothing of something":               {free: supply(10, 10, 20), demand: Demand{}, least: 100, most: 0},
		// The predecessor divides zero by zero in the rest.
		"nothing of nothing":                      {least: 100, most: 0},
		"a direction not asked for and not there": {free: supply(10, 0, 10), demand: demand(5, 0), least: 75, most: 25},
		"more than there is":                      {free: supply(10, 10, 10), demand: demand(100, 100), least: 0, most: 100},
	}
	least, most := scorer(t, ScorerConfig{Strategy: LeastAllocated}), scorer(t, ScorerConfig{Strategy: MostAllocated})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			device := Device{Capacity: tc.free}
			if got := least.Score(tc.demand, tc.free, &device); got.Score != tc.least {
				t.Errorf("LeastAllocated = %+v, want %d", got, tc.least)
			}
			if got := most.Score(tc.demand, tc.free, &device); got.Score != tc.most {
				t.Errorf("MostAllocated = %+v, want %d", got, tc.most)
			}
		})
	}
}

func TestScoreOfOperations(t *testing.T) {
	pod := demand(10, 10)
	pod.IOPS = IOPS{Read: 75, Write: 25}
	free := withIOPS(supply(100, 100, 200), 100, 100)
	least := scorer(t, ScorerConfig{})
	// Bandwidth takes 0.1, operations (0.75 + 0.25) / 2 = 0.5.
	if got := least.Score(pod, free, &Device{Capacity: free}).Score; got != 50 {
		t.Errorf("score %d, want 50: operations are scarcer", got)
	}
	free.HasIOPS = false
	if got := least.Score(pod, free, &Device{Capacity: free}).Score; got != 90 {
		t.Errorf("score %d, want 90: operations are unknown", got)
	}
}

func TestRequestedToCapacityRatio(t *testing.T) {
	spread := []ShapePoint{{Utilization: 0, Score: 10}, {Utilization: 100, Score: 0}}
	pack := []ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
	peak := []ShapePoint{{Utilization: 20, Score: 0}, {Utilization: 70, Score: 10}, {Utilization: 90, Score: 2}}
	cases := map[string]struct {
		shape    []ShapePoint
		capacity Supply
		free     Supply
		demand   Demand
		want     int64
	}{
		// Read (1000-600+200)/1000 = 60 %, write 20 %: 100 - mean(60, 20).
		"spread":      {shape: spread, capacity: supply(1000, 1000, 2000), free: supply(600, 1000, 1600), demand: demand(200, 200), want: 60},
		"pack":        {shape: pack, capacity: supply(1000, 1000, 2000), free: supply(600, 1000, 1600), demand: demand(200, 200), want: 40},
		"full":        {shape: pack, capacity: supply(1000, 1000, 2000), free: supply(200, 200, 400), demand: demand(200, 200), want: 100},
		"below peak":  {shape: peak, capacity: supply(100, 100, 200), free: supply(100, 100, 200), demand: demand(10, 20), want: 0},
		"half way up": {shape: peak, capacity: supply(100, 100, 200), free: supply(100, 100, 200), demand: demand(45, 45), want: 50},
		// 80 % is half way down from 100 to 20; 100 % is beyond the last point.
		"behind the peak":                  {shape: peak, capacity: supply(100, 100, 200), free: supply(100, 100, 200), demand: demand(80, 100), want: 40},
		"a disk that only reads":           {shape: spread, capacity: supply(100, 0, 100), free: supply(100, 0, 100), demand: demand(30, 0), want: 70},
		"a disk that can do nothing":       {shape: pack, want: 100},
		"a single point":                   {shape: []ShapePoint{{Utilization: 50, Score: 3}}, capacity: supply(1, 1, 1), want: 30},
		"what others use counts as in use": {shape: pack, capacity: supply(100, 100, 200), free: supply(0, 0, 0), want: 100},
		"operations beside the bandwidth":  {shape: pack, capacity: withIOPS(supply(100, 100, 200), 10, 10), free: withIOPS(supply(100, 100, 200), 10, 10), demand: Demand{IOPS: IOPS{Read: 10, Write: 10}}, want: 50},
		"rounded to the nearest, not down": {shape: pack, capacity: supply(1000, 1000, 2000), free: supply(1000, 1000, 2000), demand: demand(15, 15), want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := scorer(t, ScorerConfig{Strategy: RequestedToCapacityRatio, Shape: tc.shape})
			if got := s.Score(tc.demand, tc.free, &Device{Capacity: tc.capacity}); got.Score != tc.want {
				t.Errorf("%+v, want score %d", got, tc.want)
			}
		})
	}
}

func TestPressurePenalty(t *testing.T) {
	free := supply(100, 100, 200)
	report := func(state ReportState, pressure float64) Report {
		return Report{State: state, Free: free, Pressure: pressure, HasPressure: true}
	}
	cases := map[string]struct {
		weight float64
		report Report
		want   int64
	}{
		"off by default":               {report: report(FreshReport, 1), want: 80},
		"half of it at half pressure":  {weight: 1, report: report(FreshReport, 0.5), want: 40},
		"a quarter":                    {weight: 0.5, report: report(FreshReport, 0.5), want: 60},
		"all of it":                    {weight: 1, report: report(FreshReport, 1), want: 0},
		"more than all is all":         {weight: 1, report: report(FreshReport, 9), want: 0},
		"a stale measurement is none":  {weight: 1, report: report(StaleReport, 1), want: 80},
		"no number":                    {weight: 1, report: report(FreshReport, math.NaN()), want: 80},
		"negative":                     {weight: 1, report: report(FreshReport, -1), want: 80},
		"not measured, which is not 1": {weight: 1, report: Report{State: FreshReport, Free: free, Pressure: 1}, want: 80},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := scorer(t, ScorerConfig{PressureWeight: tc.weight})
			if got := s.Score(demand(20, 20), free, &Device{Capacity: free, Report: tc.report}); got.Score != tc.want {
				t.Errorf("%+v, want score %d", got, tc.want)
			}
		})
	}
}

func TestNewScorerRefuses(t *testing.T) {
	ratio := func(points ...ShapePoint) ScorerConfig {
		return ScorerConfig{Strategy: RequestedToCapacityRatio, Shape: points}
	}
	cases := map[string]struct {
		config  ScorerConfig
		wantErr string
	}{
		"an unknown strategy":    {ScorerConfig{Strategy: 9}, "want LeastAllocated, MostAllocated or RequestedToCapacityRatio"},
		"no shape":               {ratio(), "shape: want at least one point"},
		"a negative utilization": {ratio(ShapePoint{Utilization: -1}), "shape[0]: want a utilization from 0 to 100, found -1"},
		"above 100 percent":      {ratio(ShapePoint{Utilization: 101}), "shape[0]: want a utilization from 0 to 100, found 101"},
		"no rising utilization":  {ratio(ShapePoint{Utilization: 5}, ShapePoint{Utilization: 5}), "shape[1]: want a utilization above that of the point before, 5, found 5"},
		"a score of 11":          {ratio(ShapePoint{Score: 11}), "shape[0]: want a score from 0 to 10, found 11"},
		"a weight above 1":       {ScorerConfig{PressureWeight: 1.1}, "pressure weight: want a number from 0 to 1, found 1.1"},
		"no number as weight":    {ScorerConfig{PressureWeight: math.NaN()}, "pressure weight: want a number from 0 to 1, found NaN"},
		"far too many points":    {ratio(make([]ShapePoint, 102)...), "shape: want at most 101 points, found 102"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := NewScorer(tc.config); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
}

func TestMeanOfSeveralDisks(t *testing.T) {
	var m Mean
	if _, ok := m.Score(); ok {
		t.Error("a score of no disks")
	}
	m.Add(50)
	m.Add(25)
	if got, ok := m.Score(); !ok || got != 37 {
		t.Errorf("mean of 50 and 25 = %d, %v; want 37", got, ok)
	}
}

// exactRatio is the predecessor's ratio in exact arithmetic, with the package's rules about zero.
func exactRatio(asked, free [2]int64) *big.Rat {
	sum := new(big.Rat)
	for i := range asked {
		switch {
		case asked[i] <= 0:
		case asked[i] >= free[i]:
			sum.Add(sum, big.NewRat(1, 1))
		default:
			sum.Add(sum, big.NewRat(asked[i], free[i]))
		}
	}
	return sum.Quo(sum, big.NewRat(2, 1))
}

func TestScoresAgainstExactArithmetic(t *testing.T) {
	least, most := scorer(t, ScorerConfig{}), scorer(t, ScorerConfig{Strategy: MostAllocated})
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d, free := randomDemand(rng), randomSupply(rng)
		d.IOPS = IOPS{}
		exact, _ := exactRatio(
			[2]int64{int64(d.Bandwidth.Read), int64(d.Bandwidth.Write)},
			[2]int64{int64(free.Bandwidth.Read), int64(free.Bandwidth.Write)}).Float64()
		device := Device{Capacity: free}
		gotLeast, gotMost := least.Score(d, free, &device).Score, most.Score(d, free, &device).Score
		// Rounding down: at most one point lower, and never higher but for the noise of the last digit.
		if diff := 100*(1-exact) - float64(gotLeast); diff < -1e-9 || diff > 1+1e-9 {
			t.Fatalf("seed %d: LeastAllocated %d for an exact ratio of %v", seed, gotLeast, exact)
		}
		if diff := 100*exact - float64(gotMost); diff < -1e-9 || diff > 1+1e-9 {
			t.Fatalf("seed %d: MostAllocated %d for an exact ratio of %v", seed, gotMost, exact)
		}
	}
}

func TestEveryScoreIsInRange(t *testing.T) {
	shape := []ShapePoint{{Utilization: 0, Score: 10}, {Utilization: 40, Score: 0}, {Utilization: 100, Score: 7}}
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		s := scorer(t, ScorerConfig{Strategy: Strategy(rng.IntN(3)), Shape: shape, PressureWeight: rng.Float64()})
		device, d := randomDevice(rng), randomDemand(rng)
		free := device.Free(randomDemand(rng), randomDemand(rng))
		got := s.Score(d, free, &device)
		for _, part := range []float64{float64(got.Score) / MaxScore, got.Read, got.Write, got.ReadIOPS, got.WriteIOPS, got.Penalty} {
			if !(part >= 0 && part <= 1) {
				t.Fatalf("seed %d: %+v of %+v on %+v is out of range", seed, got, d, device)
			}
		}
	}
}
