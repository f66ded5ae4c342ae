package blockio

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const mebi = 1 << 20

// demand asks for both directions, and for their sum as the predecessor does.
func demand(read, write BytesPerSecond) Demand {
	return Demand{Bandwidth: Bandwidth{Read: read, Write: write, Total: read + write}}
}

func supply(read, write, total BytesPerSecond) Supply {
	return Supply{Bandwidth: Bandwidth{Read: read, Write: write, Total: total}}
}

func withIOPS(s Supply, read, write PerSecond) Supply {
	s.IOPS, s.HasIOPS = IOPS{Read: read, Write: write}, true
	return s
}

func TestFree(t *testing.T) {
	capacity := supply(1000, 800, 1500)
	fresh := Report{State: FreshReport, Free: supply(700, 700, 1200)}
	stale := fresh
	stale.State = StaleReport
	cases := map[string]struct {
		device            Device
		requested, unseen Demand
		want              Supply
	}{
		"an empty disk": {device: Device{Capacity: capacity}, want: capacity},
		"requests only, since nobody measures": {
			device: Device{Capacity: capacity}, requested: demand(100, 200), want: supply(900, 600, 1200),
		},
		// 1000-100 > 700-0; 800-200 < 700-0; 1500-300 = 1200-0.
		"the lower of requested and measured, each direction for itself": {
			device: Device{Capacity: capacity, Report: fresh}, requested: demand(100, 200), want: supply(700, 600, 1200),
		},
		// Measured 700-50, 700-60, 1200-110 against 1000-100, 800-200, 1500-300.
		"pods the report has not seen are taken from what it says": {
			device: Device{Capacity: capacity, Report: fresh}, requested: demand(100, 200), unseen: demand(50, 60),
			want: supply(650, 600, 1090),
		},
		"a stale report is unknown": {
			device: Device{Capacity: capacity, Report: stale}, requested: demand(100, 200), unseen: demand(50, 60), want: supply(900, 600, 1200),
		},
		"capacity shrank below what is placed": {
			device: Device{Capacity: supply(50, 50, 80)}, requested: demand(100, 20), want: supply(0, 30, 0),
		},
		"a report that promises more than the disk has": {
			device: Device{Capacity: capacity, Report: Report{State: FreshReport, Free: supply(math.MaxInt64, math.MaxInt64, math.MaxInt64)}},
			want:   capacity,
		},
		"negative numbers create nothing": {
			device:    Device{Capacity: supply(-5, 800, 1500), Report: Report{State: FreshReport, Free: supply(-1, 100, math.MinInt64)}},
			requested: Demand{Bandwidth: Bandwidth{Read: -1000, Write: -1000, Total: math.MinInt64}}, want: supply(0, 100, 0),
		},
		"operations of both": {
			device:    Device{Capacity: withIOPS(capacity, 100, 100), Report: Report{State: FreshReport, Free: withIOPS(capacity, 70, 95)}},
			requested: Demand{IOPS: IOPS{Read: 20, Write: 20}}, unseen: Demand{IOPS: IOPS{Read: 10}}, want: withIOPS(capacity, 60, 80),
		},
		"operations known to the report only": {
			device: Device{Capacity: capacity, Report: Report{State: FreshReport, Free: withIOPS(capacity, 70, 95)}},
			want:   withIOPS(capacity, 70, 95),
		},
		"operations known to the capacity only": {
			device:    Device{Capacity: withIOPS(capacity, 100, 100), Report: Report{State: FreshReport, Free: capacity}},
			requested: Demand{IOPS: IOPS{Write: 101}}, want: withIOPS(capacity, 100, 0),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.device.Free(tc.requested, tc.unseen)); diff != "" {
				t.Errorf("free (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportStateAt(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		observedAt time.Time
		want       ReportState
	}{
		"never":                           {time.Time{}, NoReport},
		"now":                             {now, FreshReport},
		"just young enough":               {now.Add(-time.Minute), FreshReport},
		"too old":                         {now.Add(-time.Minute - 1), StaleReport},
		"clocks that differ a little":     {now.Add(time.Minute), FreshReport},
		"from the future":                 {now.Add(time.Minute + 1), StaleReport},
		"from a future beyond a Duration": {now.AddDate(1000, 0, 0), StaleReport},
		"from before a Duration's reach":  {now.AddDate(-1000, 0, 0), StaleReport},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ReportStateAt(tc.observedAt, now, time.Minute); got != tc.want {
				t.Errorf("ReportStateAt = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestFit(t *testing.T) {
	free := withIOPS(supply(500, 400, 800), 10, 20)
	cases := map[string]struct {
		demand Demand
		want   Shortage
		reason string
	}{
		"all that is left fits":       {demand: Demand{Bandwidth: Bandwidth{Read: 500, Write: 300, Total: 800}, IOPS: IOPS{Read: 10, Write: 20}}},
		"read first":                  {demand: demand(501, 401), want: ShortOfRead, reason: "disk IO read bandwidth is not enough"},
		"then write":                  {demand: demand(500, 401), want: ShortOfWrite, reason: "disk IO write bandwidth is not enough"},
		"then the total, of its own":  {demand: Demand{Bandwidth: Bandwidth{Read: 400, Write: 400, Total: 2000}}, want: ShortOfTotal, reason: "disk IO total bandwidth is not enough"},
		"then operations of reading":  {demand: Demand{IOPS: IOPS{Read: 11, Write: 21}}, want: ShortOfReadIOPS, reason: "disk IO read IOPS are not enough"},
		"at last those of writing":    {demand: Demand{IOPS: IOPS{Write: 21}}, want: ShortOfWriteIOPS, reason: "disk IO write IOPS are not enough"},
		"bandwidth before operations": {demand: Demand{Bandwidth: Bandwidth{Total: 801}, IOPS: IOPS{Read: 11}}, want: ShortOfTotal, reason: "disk IO total bandwidth is not enough"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Fit(tc.demand, free)
			if got != tc.want || got.Reason() != tc.reason {
				t.Errorf("Fit = %d, %q; want %d, %q", got, got.Reason(), tc.want, tc.reason)
			}
		})
	}
	if got := Fit(Demand{IOPS: IOPS{Read: 1 << 40}}, supply(0, 0, 0)); got != Enough {
		t.Errorf("operations on a disk that does not state its own: %q, want that they fit", got.Reason())
	}
	if got := ShortOfRead.NodeReason("n1"); got != "node n1 disk IO read bandwidth is not enough" {
		t.Errorf("the predecessor's text is %q", got)
	}
	if got := Enough.NodeReason("n1"); got != "" {
		t.Errorf("a text for no shortage: %q", got)
	}
	if got := UnsupportedReason("n1"); got != "node n1 without disk io aware support cannot schedule disk io aware workload" {
		t.Errorf("the predecessor's text is %q", got)
	}
}

// TestReadmeOfThePredecessor: of two pods with 900/900Mi on a device with 1000/1000Mi, the second is refused.
func TestReadmeOfThePredecessor(t *testing.T) {
	device := Device{Capacity: supply(1000*mebi, 1000*mebi, 2000*mebi)}
	pod := demand(900*mebi, 900*mebi)
	if got := Fit(pod, device.Free(Demand{}, Demand{})); got != Enough {
		t.Errorf("the first pod: %q", got.Reason())
	}
	if got := Fit(pod, device.Free(pod, Demand{})); got != ShortOfRead {
		t.Errorf("the second pod: %q, want %q", got.Reason(), ReasonRead)
	}
}

// randomAmount is often zero, equal to a neighbour or extreme, rarely anything in between.
func randomAmount(rng *rand.Rand) int64 {
	switch rng.IntN(6) {
	case 0:
		return 0
	case 1:
		return math.MaxInt64 - int64(rng.IntN(3))
	case 2:
		return -int64(rng.IntN(5))
	case 3:
		return rng.Int64()
	default:
		return int64(rng.IntN(20))
	}
}

func randomSupply(rng *rand.Rand) Supply {
	s := supply(BytesPerSecond(randomAmount(rng)), BytesPerSecond(randomAmount(rng)), BytesPerSecond(randomAmount(rng)))
	if rng.IntN(2) == 0 {
		s = withIOPS(s, PerSecond(randomAmount(rng)), PerSecond(randomAmount(rng)))
	}
	return s
}

func randomDemand(rng *rand.Rand) Demand {
	s := withIOPS(randomSupply(rng), PerSecond(randomAmount(rng)), PerSecond(randomAmount(rng)))
	return Demand{Bandwidth: s.Bandwidth, IOPS: s.IOPS}
}

func randomDevice(rng *rand.Rand) Device {
	return Device{Capacity: randomSupply(rng), Report: Report{
		State: ReportState(rng.IntN(3)), Free: randomSupply(rng), HasPressure: rng.IntN(2) == 0,
		Pressure: []float64{0, 0.3, 1, 7, -1, math.NaN(), math.Inf(1)}[rng.IntN(7)],
	}}
}

// TestFreeIsIndependentOfTheOrderOfPods: however pods come and go, free is what a sum over those that are there says, so that
// nothing leaks as it did in the predecessor, which floored on the way down and added all on the way up.
func TestFreeIsIndependentOfTheOrderOfPods(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 2))
		pods := make([]Demand, rng.IntN(8))
		for i := range pods {
			pods[i] = randomDemand(rng)
		}
		sum := func(order []int) (total Demand) {
			for _, i := range order {
				total = total.Add(pods[i])
			}
			return total
		}
		a, b := sum(rng.Perm(len(pods))), sum(rng.Perm(len(pods)))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("seed %d: the sum depends on the order:\n%s", seed, diff)
		}
		device := randomDevice(rng)
		free := device.Free(a, a)
		for _, v := range []int64{
			int64(free.Bandwidth.Read), int64(free.Bandwidth.Write), int64(free.Bandwidth.Total),
			int64(free.IOPS.Read), int64(free.IOPS.Write),
		} {
			if v < 0 {
				t.Fatalf("seed %d: negative in %+v", seed, free)
			}
		}
		if c := device.Capacity.Bandwidth; free.Bandwidth.Read > max(0, c.Read) || free.Bandwidth.Write > max(0, c.Write) || free.Bandwidth.Total > max(0, c.Total) {
			t.Fatalf("seed %d: free %+v above capacity %+v", seed, free.Bandwidth, c)
		}
	}
}
