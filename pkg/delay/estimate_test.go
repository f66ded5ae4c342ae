package delay

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func testNow() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// topology is a set of nodes with true round-trip times. Nodes of one site stand together and measure each other.
type topology struct {
	names []string
	site  int // nodes each; 0: there are no sites
	rtt   func(i, j int) time.Duration
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("node-%05d", i)
	}
	return out
}

// plane has nodes at random points of a square of so many milliseconds, each with an access link of its own.
func plane(n int, side float64, random *rand.Rand) topology {
	x, y, access := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i], access[i] = random.Float64()*side, random.Float64()*side, 0.1+random.Float64()
	}
	return topology{names: names(n), rtt: func(i, j int) time.Duration {
		return time.Duration((math.Hypot(x[i]-x[j], y[i]-y[j]) + access[i] + access[j]) * float64(time.Millisecond))
	}}
}

// sites has nodes in groups: about half a millisecond within one, up to 40 between two.
func sites(n, each int, random *rand.Rand) topology {
	at := plane(n/each+1, 30, random)
	access := make([]time.Duration, n)
	for i := range access {
		access[i] = time.Duration(100+random.IntN(300)) * time.Microsecond
	}
	return topology{names: names(n), site: each, rtt: func(i, j int) time.Duration {
		if i/each == j/each {
			return access[i] + access[j]
		}
		return access[i] + access[j] + at.rtt(i/each, j/each)
	}}
}

// twisted is a plane in which every fourth path takes a detour of up to the double: shorter ways lead over a third node.
func twisted(n int, side float64, random *rand.Rand) topology {
	straight := plane(n, side, random)
	detour := map[[2]int]float64{}
	for i := range n {
		for j := range i {
			if random.IntN(4) == 0 {
				detour[[2]int{j, i}] = 1 + random.Float64()
			}
		}
	}
	return topology{names: straight.names, rtt: func(i, j int) time.Duration {
		factor, ok := detour[[2]int{min(i, j), max(i, j)}]
		if !ok {
			factor = 1
		}
		return time.Duration(factor * float64(straight.rtt(i, j)))
	}}
}

// load lets each node measure those of its site, and others by lot until there are so many, as the agents do.
func (tp topology) load(s *Store, peers int, random *rand.Rand) {
	n := len(tp.names)
	for i := range n {
		measured := map[int]bool{}
		for j := range tp.site {
			measured[i/tp.site*tp.site+j] = true
		}
		delete(measured, i)
		for len(measured) < min(peers, n-1) {
			if j := random.IntN(n); j != i {
				measured[j] = true
			}
		}
		var samples []PeerSample
		for _, j := range slices.Sorted(maps.Keys(measured)) {
			samples = append(samples, PeerSample{Peer: tp.names[j], Sample: Sample{
				P50: tp.rtt(i, j), Known: true, Count: 20, ObservedAt: testNow(),
			}})
		}
		s.SetNode(tp.names[i], "")
		s.Update(tp.names[i], SourceAgent, samples, testNow())
	}
}

// accuracy is the mean relative error of the estimates of pairs that were not measured, and the share of them that their
// error bar covers.
func (tp topology) accuracy(s *Store) (meanError, covered float64) {
	sum, within, pairs := 0.0, 0, 0
	for i := range tp.names {
		for j := range i {
			if _, ok := s.Lookup(tp.names[i], tp.names[j]); ok {
				continue
			}
			if _, ok := s.Lookup(tp.names[j], tp.names[i]); ok {
				continue
			}
			estimate, ok := s.Estimate(tp.names[i], tp.names[j])
			if !ok {
				continue
			}
			truth := tp.rtt(i, j)
			wrong := (truth - estimate.Delay).Abs()
			sum += wrong.Seconds() / truth.Seconds()
			if wrong <= estimate.Bar {
				within++
			}
			pairs++
		}
	}
	return sum / float64(pairs), float64(within) / float64(pairs)
}

func refine(s *Store) {
	for s.Refine(1 << 20) {
	}
}

// TestEstimates: budgets are a mean relative error below 10 % where the topology can be embedded, and nine of ten pairs
// within the error bar where it cannot. Both are printed with -v.
func TestEstimates(t *testing.T) {
	cases := map[string]struct {
		topology func(*rand.Rand) topology
		maxError float64
	}{
		"line of access links":          {func(r *rand.Rand) topology { return plane(200, 0, r) }, 0.1},
		"plane of 60 ms":                {func(r *rand.Rand) topology { return plane(300, 60, r) }, 0.1},
		"plane of 2 ms":                 {func(r *rand.Rand) topology { return plane(300, 2, r) }, 0.1},
		"30 sites of ten":               {func(r *rand.Rand) topology { return sites(300, 10, r) }, 0.1},
		"detours break the triangle":    {func(r *rand.Rand) topology { return twisted(300, 60, r) }, 1},
		"detours in a plane of 5 ms":    {func(r *rand.Rand) topology { return twisted(300, 5, r) }, 1},
		"twenty nodes with a few paths": {func(r *rand.Rand) topology { return twisted(40, 60, r) }, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			tp, s := tc.topology(random), NewStore()
			tp.load(s, 16, random)
			refine(s)
			meanError, covered := tp.accuracy(s)
			t.Logf("mean relative error %.1f %%, %.1f %% of the pairs within their error bar", 100*meanError, 100*covered)
			if meanError > tc.maxError {
				t.Errorf("mean relative error %.3f, want at most %.3f", meanError, tc.maxError)
			}
			if covered < 0.9 {
				t.Errorf("%.3f of the pairs are within their error bar, want 0.9", covered)
			}
		})
	}
}
