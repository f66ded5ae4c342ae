package delay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

// answered is a sample that was answered just now.
func answered(p50 time.Duration) Sample {
	return Sample{P50: p50, Known: true, Count: 20, ObservedAt: testNow()}
}

// cut is a sample without an answer.
func cut() Sample { return Sample{Loss: WholeLoss, Count: 20, ObservedAt: testNow()} }

// matrixOf is a store in which every node has measured the others; a negative number is a pair that nobody measured.
func matrixOf(nodes []string, source Source, milliseconds ...[]float64) *Store {
	s := NewStore()
	for i, from := range nodes {
		s.SetNode(from, "")
		var peers []PeerSample
		for j, d := range milliseconds[i] {
			if i != j && d >= 0 {
				peers = append(peers, PeerSample{Peer: nodes[j], Sample: answered(time.Duration(d * float64(ms)))})
			}
		}
		s.Update(from, source, peers, testNow())
	}
	return s
}

// triangle is the reference's example: 10, 12 and 20 ms.
func triangle() *Store {
	return matrixOf([]string{"e1", "e2", "e3"}, SourceAgent, []float64{0, 10, 20}, []float64{10, 0, 12}, []float64{20, 12, 0})
}

func within(t *testing.T, s *Store, ref string, q Query) []string {
	t.Helper()
	if q.Percentile == 0 {
		q.Percentile = P50
	}
	radius, ok := s.Radius(ref, q, testNow())
	if !ok {
		t.Fatalf("%s is not known", ref)
	}
	return members(s, radius.Nodes)
}

func TestRadiusIsExact(t *testing.T) {
	zero := matrixOf([]string{"e1", "e2", "e3"}, SourceFiles, []float64{0, 0, 9}, []float64{0, 0, 9}, []float64{9, 9, 0})
	fine := matrixOf([]string{"e1", "e2", "e3"}, SourceAgent, []float64{0, 0.18, 0.32}, []float64{0.18, 0, 0.4}, []float64{0.32, 0.4, 0})
	cases := map[string]struct {
		store *Store
		ref   string
		max   time.Duration
		want  []string
	}{
		"11 ms of e1": {triangle(), "e1", 11 * ms, []string{"e1", "e2"}},
		// The predecessor's clusters leave e3 out.
		"13 ms of e2":                      {triangle(), "e2", 13 * ms, []string{"e1", "e2", "e3"}},
		"25 ms of e3":                      {triangle(), "e3", 25 * ms, []string{"e1", "e2", "e3"}},
		"exactly at the bound":             {triangle(), "e1", 10 * ms, []string{"e1", "e2"}},
		"a microsecond below the bound":    {triangle(), "e1", 10*ms - time.Microsecond, []string{"e1"}},
		"0 ms apart, and a bound of 5":     {zero, "e1", 5 * ms, []string{"e1", "e2"}},
		"0 ms apart, and a bound of 0":     {zero, "e1", 0, []string{"e1", "e2"}},
		"a bound of 0, and nothing at 0":   {triangle(), "e1", 0, []string{"e1"}},
		"less than a millisecond":          {fine, "e1", 250 * time.Microsecond, []string{"e1", "e2"}},
		"less than any path":               {fine, "e1", 100 * time.Microsecond, []string{"e1"}},
		"a bound finer than a microsecond": {fine, "e1", 180*time.Microsecond - time.Nanosecond, []string{"e1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, within(t, tc.store, tc.ref, Query{Max: tc.max, OnUnknown: PolicyReject})); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatWasNotMeasured(t *testing.T) {
	partial := func() *Store {
		s := matrixOf([]string{"a", "b", "c"}, SourceAgent, []float64{0, 1, -1}, []float64{1, 0, -1}, []float64{-1, -1, 0})
		s.SetNode("stranger", "")
		return s
	}
	located := partial()
	// On a line: a at 0, c at 10 ms; height 0.1 ms each, so a to c is 10.2 ms, and wrong by a tenth: the bar is a fifth.
	for name, at := range map[string]time.Duration{"a": 0, "c": 10 * ms} {
		vector := make([]time.Duration, Dimensions)
		vector[0] = at
		if !located.SetCoordinate(name, Coordinate{Vector: vector, Height: ms / 10, Error: 0.1}) {
			t.Fatal("a valid coordinate was refused")
		}
	}
	zoned := partial()
	for _, name := range []string{"a", "b"} {
		zoned.SetNode(name, "west")
	}
	zoned.SetNode("c", "east")
	for _, name := range []string{"x", "y", "z"} {
		zoned.SetNode(name, "east")
		zoned.Update(name, SourceAgent, []PeerSample{{Peer: "b", Sample: answered(20 * ms)}}, testNow())
	}
	cases := map[string]struct {
		store *Store
		query Query
		want  []string
	}{
		"rejected":               {partial(), Query{Max: 5 * ms, OnUnknown: PolicyReject}, []string{"a", "b"}},
		"allowed":                {partial(), Query{Max: 5 * ms, OnUnknown: PolicyAllow}, []string{"a", "b", "c", "stranger"}},
		"nothing to estimate by": {partial(), Query{Max: time.Hour, OnUnknown: PolicyEstimate}, []string{"a", "b"}},
		"allowed, but measured as too far": {
			partial(), Query{Max: ms / 2, OnUnknown: PolicyAllow}, []string{"a", "c", "stranger"},
		},
		// 10.2 ms plus a bar of 2 x 0.1 x 10.2 = 2.04 ms.
		"estimated within the bound with its error":     {located, Query{Max: 12250 * time.Microsecond}, []string{"a", "b", "c"}},
		"estimated within the bound without its error":  {located, Query{Max: 12 * ms}, []string{"a", "b"}},
		"estimates do not count for those who refuse":   {located, Query{Max: time.Second, OnUnknown: PolicyReject}, []string{"a", "b"}},
		"typical for the zones: 20 ms":                  {zoned, Query{Max: 20 * ms}, []string{"a", "b", "c", "x", "y", "z"}},
		"typical for the zones, and the bound is lower": {zoned, Query{Max: 19 * ms}, []string{"a", "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, within(t, tc.store, "a", tc.query)); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathsThatAreCut(t *testing.T) {
	q := Query{Max: 15 * ms, OnUnknown: PolicyAllow}
	s := triangle()
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: cut()}, {Peer: "e3", Sample: answered(14 * ms)}}, testNow())
	s.Update("e2", SourceAgent, []PeerSample{{Peer: "e1", Sample: cut()}, {Peer: "e3", Sample: answered(12 * ms)}}, testNow())
	s.Update("e3", SourceAgent, []PeerSample{{Peer: "e1", Sample: answered(14 * ms)}, {Peer: "e2", Sample: answered(12 * ms)}}, testNow())
	if diff := cmp.Diff([]string{"e1", "e3"}, within(t, s, "e1", q)); diff != "" {
		t.Errorf("e2 gets no answer from e1, e3 does (-want +got):\n%s", diff)
	}
	// Now nobody does: e1 is dead, and what was known last counts, 10 ms to e2.
	s.Update("e1", SourceAgent, nil, testNow())
	s.Update("e3", SourceAgent, []PeerSample{{Peer: "e1", Sample: cut()}, {Peer: "e2", Sample: answered(12 * ms)}}, testNow())
	if diff := cmp.Diff([]string{"e1", "e2", "e3"}, within(t, s, "e1", q)); diff != "" {
		t.Errorf("e1 is dead (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"e1", "e2"}, within(t, s, "e1", Query{Max: 12 * ms, OnUnknown: PolicyReject})); diff != "" {
		t.Errorf("12 ms of a dead node (-want +got):\n%s", diff)
	}
}

func TestASourceThatAnswersBeatsOneThatDoesNot(t *testing.T) {
	s := triangle()
	s.Update("e1", SourceGoldpinger, []PeerSample{{Peer: "e2", Sample: answered(11 * ms)}}, testNow())
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: cut()}}, testNow())
	if got, _ := s.Lookup("e1", "e2"); got.Source != SourceGoldpinger || got.P50 != 11*ms {
		t.Errorf("found %+v; want Goldpinger's 11 ms, since a firewall may drop the agent's probes only", got)
	}
}

func TestPercentiles(t *testing.T) {
	s := NewStore()
	tail := answered(4 * ms)
	tail.P99, tail.HasP99 = 9*ms, true
	s.Update("a", SourceAgent, []PeerSample{{Peer: "told", Sample: tail}, {Peer: "untold", Sample: answered(4 * ms)}}, testNow())
	s.Update("a", SourceFiles, []PeerSample{{Peer: "written", Sample: answered(4 * ms)}}, testNow())
	for _, name := range []string{"a", "told", "untold", "written"} {
		s.SetNode(name, "")
	}
	cases := map[string]struct {
		query Query
		want  []string
	}{
		"the median":                         {Query{Max: 5 * ms, Percentile: P50}, []string{"a", "told", "untold", "written"}},
		"a tail that is told or written":     {Query{Max: 7 * ms, Percentile: P99}, []string{"a", "written"}},
		"an untold tail counts twice":        {Query{Max: 8 * ms, Percentile: P99}, []string{"a", "untold", "written"}},
		"an untold tail that is not guessed": {Query{Max: 9 * ms, Percentile: P99, OnUnknown: PolicyReject}, []string{"a", "told", "written"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, within(t, s, "a", tc.query)); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMonitorThatFallsSilentTakesNothingAway(t *testing.T) {
	s := triangle()
	later := testNow().Add(24 * time.Hour)
	radius, _ := s.Radius("e1", Query{Max: 11 * ms, Percentile: P50, OnUnknown: PolicyReject}, later)
	if diff := cmp.Diff([]string{"e1", "e2"}, members(s, radius.Nodes)); diff != "" {
		t.Errorf("a day later (-want +got):\n%s", diff)
	}
	want := map[PairClass]int{{Source: SourceAgent, Stale: true}: 6}
	if diff := cmp.Diff(want, s.Stats(later).Pairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

// TestOldSamplesGiveWay: a better source counts until it is five minutes behind.
func TestOldSamplesGiveWay(t *testing.T) {
	s := triangle()
	ping := answered(30 * ms)
	for _, tc := range []struct {
		later time.Duration
		want  Source
	}{{StaleAfter - time.Millisecond, SourceAgent}, {StaleAfter, SourceGoldpinger}} {
		ping.ObservedAt = testNow().Add(tc.later)
		s.Update("e1", SourceGoldpinger, []PeerSample{{Peer: "e2", Sample: ping}}, ping.ObservedAt)
		if got, _ := s.Lookup("e1", "e2"); got.Source != tc.want {
			t.Errorf("%s later %s counts, want %s", tc.later, got.Source, tc.want)
		}
	}
}

func TestZones(t *testing.T) {
	s := matrixOf([]string{"w1", "w2", "w3", "near", "far"}, SourceAgent,
		[]float64{0, 1, 1, 4, 20}, []float64{1, 0, 1, 5, 21}, []float64{1, 1, 0, 30, 22}, []float64{4, 5, 30, 0, 9}, []float64{20, 21, 22, 9, 0})
	for _, name := range []string{"w1", "w2", "w3"} {
		s.SetNode(name, "west")
	}
	radius := s.ZoneRadius("west", Query{Max: 5 * ms, Percentile: P50})
	// The median of 4, 5 and 30 ms is 5.
	if diff := cmp.Diff([]string{"near", "w1", "w2", "w3"}, members(s, radius.Nodes)); diff != "" {
		t.Errorf("5 ms of the zone (-want +got):\n%s", diff)
	}
	if !s.HasZone("west") || s.HasZone("east") {
		t.Error("want zone west only")
	}
}

// TestRadiiFollowChanges: what is remembered is forgotten when it changes, and only then.
func TestRadiiFollowChanges(t *testing.T) {
	s, q := triangle(), Query{Max: 11 * ms, Percentile: P50, OnUnknown: PolicyReject}
	first, _ := s.Radius("e1", q, testNow())
	again, _ := s.Radius("e1", q, testNow())
	s.Update("e2", SourceAgent, []PeerSample{{Peer: "e1", Sample: answered(10 * ms)}, {Peer: "e3", Sample: answered(99 * ms)}}, testNow())
	unmoved, _ := s.Radius("e1", q, testNow())
	if first != again || first != unmoved {
		t.Error("a radius was made anew although no path of its reference changed")
	}
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: answered(12 * ms)}, {Peer: "e3", Sample: answered(11 * ms)}}, testNow())
	if diff := cmp.Diff([]string{"e1", "e3"}, within(t, s, "e1", q)); diff != "" {
		t.Errorf("after e1's row changed (-want +got):\n%s", diff)
	}
	s.SetNode("new", "")
	s.Update("new", SourceAgent, []PeerSample{{Peer: "e1", Sample: answered(ms)}}, testNow())
	if diff := cmp.Diff([]string{"e1", "e3", "new"}, within(t, s, "e1", q)); diff != "" {
		t.Errorf("after a node joined and measured (-want +got):\n%s", diff)
	}
	s.Update("new", SourceAgent, nil, testNow())
	s.RemoveNode("new")
	if diff := cmp.Diff([]string{"e1", "e3"}, within(t, s, "e1", q)); diff != "" {
		t.Errorf("after it left (-want +got):\n%s", diff)
	}
}

func TestScarceNodes(t *testing.T) {
	s := triangle()
	ask := func(ref string, limit time.Duration) *Radius {
		radius, _ := s.Radius(ref, Query{Max: limit, Percentile: P50, OnUnknown: PolicyReject}, testNow())
		return radius
	}
	one, all := ask("e1", ms), ask("e1", 30*ms)
	if diff := cmp.Diff([]int{1}, sizes(s.Scarce(all.Size, 5, testNow()))); diff != "" {
		t.Errorf("sets smaller than three (-want +got):\n%s", diff)
	}
	if got := s.Scarce(one.Size, 5, testNow()); len(got) != 0 {
		t.Errorf("%d sets are smaller than one", len(got))
	}
	if got := s.Scarce(all.Size, 5, testNow().Add(time.Hour)); len(got) != 0 {
		t.Error("a bound that nobody asked for within an hour keeps others away")
	}
}

func sizes(radii []*Radius) (out []int) {
	for _, radius := range radii {
		out = append(out, radius.Size)
	}
	return out
}

func TestMargin(t *testing.T) {
	s := triangle()
	radius, _ := s.Radius("e1", Query{Max: 20 * ms, Percentile: P50}, testNow())
	for name, want := range map[string]float64{"e1": 1, "e2": 0.5, "e3": 0} {
		id, _ := s.Index().ID(name)
		if got := radius.Margin(id); got != want {
			t.Errorf("margin of %s is %v, want %v", name, got, want)
		}
	}
}
