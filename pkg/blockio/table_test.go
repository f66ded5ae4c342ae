package blockio

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nvme holds the ratios that the predecessor measured with fio on a real disk.
func nvme() TableConfig {
	return TableConfig{
		Read: []RatioPoint{{512, 13.43}, {1 << 10, 6.41}, {4 << 10, 1.75}, {8 << 10, 1.14}, {16 << 10, 1.08}, {32 << 10, 1}},
		// Not in order, on purpose.
		Write: []RatioPoint{{32 << 10, 1}, {512, 53.2}, {1 << 10, 28}, {4 << 10, 5.09}, {8 << 10, 1.99}, {16 << 10, 1.06}},
		Mixed: 1,
	}
}

func table(t testing.TB, config TableConfig) *Table {
	t.Helper()
	out, err := NewTable(config)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTable(t *testing.T) {
	mixed := func(factor float64) TableConfig { return TableConfig{Mixed: factor} }
	cases := map[string]struct {
		config  TableConfig
		request Request
		want    Bandwidth
	}{
		"no ratios: the predecessor's sample": {
			config: mixed(1), request: Request{Read: 1000, Write: 500, ReadBlock: 512, WriteBlock: 512}, want: Bandwidth{1000, 500, 1500},
		},
		"small blocks cost most": {
			config: nvme(), request: Request{Read: 100, Write: 100, ReadBlock: 512, WriteBlock: 512}, want: Bandwidth{1343, 5320, 6663},
		},
		"each direction at its size": {
			config: nvme(), request: Request{Read: 100, Write: 100, ReadBlock: 4096, WriteBlock: 32768}, want: Bandwidth{175, 100, 275},
		},
		// Between 1k and 4k, at 2k, half way on the logarithmic scale: sqrt(6.41 x 1.75) = 3.3493.
		"between two sizes": {
			config: nvme(), request: Request{Read: 10000, ReadBlock: 2048, WriteBlock: 1}, want: Bandwidth{33493, 0, 33493},
		},
		"outside the sizes": {
			config: nvme(), request: Request{Read: 100, Write: 100, ReadBlock: 1, WriteBlock: 1 << 30}, want: Bandwidth{1343, 100, 1443},
		},
		"noise of the last digit is no byte": {
			config:  TableConfig{Read: []RatioPoint{{4096, 1.1}}, Mixed: 1},
			request: Request{Read: 1000 * mebi, ReadBlock: 4096, WriteBlock: 4096}, want: Bandwidth{1100 * mebi, 0, 1100 * mebi},
		},
		"both at once for the price of one": {config: mixed(0), request: Request{Read: 30, Write: 20, ReadBlock: 1, WriteBlock: 1}, want: Bandwidth{30, 20, 30}},
		"half of the smaller one":           {config: mixed(0.5), request: Request{Read: 20, Write: 30, ReadBlock: 1, WriteBlock: 1}, want: Bandwidth{20, 30, 40}},
		"the mixture hurts":                 {config: mixed(2), request: Request{Read: 20, Write: 30, ReadBlock: 1, WriteBlock: 1}, want: Bandwidth{20, 30, 70}},
		"negative is nothing":               {config: mixed(1), request: Request{Read: -20, Write: 30, ReadBlock: 1, WriteBlock: 1}, want: Bandwidth{0, 30, 30}},
		"as large as can be":                {config: mixed(1), request: Request{Read: math.MaxInt64, Write: math.MaxInt64, ReadBlock: 1, WriteBlock: 1}, want: Bandwidth{math.MaxInt64, math.MaxInt64, math.MaxInt64}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.request.IOPS = IOPS{Read: 7, Write: 8}
			got, err := table(t, tc.config).Normalize(tc.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Demand{Bandwidth: tc.want, IOPS: tc.request.IOPS}, got); diff != "" {
				t.Errorf("demand (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := table(t, nvme()).Normalize(Request{Write: math.MaxInt64 / 2, ReadBlock: 512, WriteBlock: 512}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too much: error %v, want %v", err, ErrTooLarge)
	}
}

// TestTableIsMonotonicBetweenItsPoints: never outside the ratios of the neighbours, and exact at each point.
func TestTableIsMonotonicBetweenItsPoints(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var points []RatioPoint
		for size := Bytes(1 + rng.IntN(100)); len(points) < 1+rng.IntN(8); size += Bytes(1 + rng.IntN(5000)) {
			points = append(points, RatioPoint{Size: size, Ratio: math.Exp(rng.Float64()*20 - 8)})
		}
		c := table(t, TableConfig{Read: points}).read
		for i, p := range points {
			if got := c.ratio(p.Size); got != p.Ratio {
				t.Fatalf("seed %d: ratio(%d) = %v, want exactly %v", seed, p.Size, got, p.Ratio)
			}
			if i == 0 {
				continue
			}
			before := points[i-1]
			size := before.Size + Bytes(rng.Int64N(int64(p.Size-before.Size)+1))
			low, high := min(before.Ratio, p.Ratio), max(before.Ratio, p.Ratio)
			if got := c.ratio(size); got < low*(1-1e-12) || got > high*(1+1e-12) {
				t.Fatalf("seed %d: ratio(%d) = %v, want it between %v and %v", seed, size, got, low, high)
			}
		}
	}
}

func TestNewTableRefuses(t *testing.T) {
	read := func(points ...RatioPoint) TableConfig { return TableConfig{Read: points} }
	cases := map[string]struct {
		config  TableConfig
		wantErr string
	}{
		"no number as mixed":     {TableConfig{Mixed: math.NaN()}, "mixed: want a number from 0 to 10, found NaN"},
		"negative mixed":         {TableConfig{Mixed: -0.1}, "mixed: want a number from 0 to 10, found -0.1"},
		"a size of zero":         {read(RatioPoint{0, 1}), "read ratios: want block sizes above 0, found 0"},
		"a ratio of zero":        {read(RatioPoint{512, 0}), "block size 512: want a ratio above 0 and at most 1e+06, found 0"},
		"an infinite ratio":      {read(RatioPoint{512, math.Inf(1)}), "found +Inf"},
		"no number as ratio":     {read(RatioPoint{512, math.NaN()}), "found NaN"},
		"a size twice":           {TableConfig{Write: []RatioPoint{{512, 1}, {1024, 1}, {512, 2}}}, "write ratios: want one ratio for block size 512, found two"},
		"a size for every ratio": {read(make([]RatioPoint, 65)...), "want at most 64 block sizes, found 65"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := NewTable(tc.config); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
}

func TestBestEffortOfThePredecessor(t *testing.T) {
	want := Demand{Bandwidth: Bandwidth{Read: 5 * mebi, Write: 5 * mebi, Total: 10 * mebi}}
	if diff := cmp.Diff(want, BestEffort(DefaultBestEffort)); diff != "" {
		t.Errorf("demand (-want +got):\n%s", diff)
	}
}
