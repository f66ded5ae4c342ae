package delay

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSamplesThatContradictThemselves(t *testing.T) {
	cases := map[string]struct {
		sample Sample
		kept   bool
	}{
		"0 ms":                      {Sample{Known: true}, true},
		"an hour":                   {Sample{Known: true, P50: MaxDelay}, true},
		"never answered":            {Sample{Loss: WholeLoss}, true},
		"negative":                  {Sample{Known: true, P50: -1}, false},
		"longer than an hour":       {Sample{Known: true, P50: MaxDelay + 1}, false},
		"a tail below the median":   {Sample{Known: true, P50: 2, P99: 1, HasP99: true}, false},
		"a tail beyond an hour":     {Sample{Known: true, P50: 2, P99: MaxDelay + 1, HasP99: true}, false},
		"more lost than sent":       {Sample{Known: true, Loss: WholeLoss + 1}, false},
		"less than nothing is lost": {Sample{Known: true, Loss: -1}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := NewStore()
			dropped := s.Update("a", SourceAgent, []PeerSample{{Peer: "b", Sample: tc.sample}}, testNow())
			if _, ok := s.Lookup("a", "b"); ok != tc.kept || (dropped == 0) != tc.kept {
				t.Errorf("kept %v, dropped %d; want kept %v", ok, dropped, tc.kept)
			}
			if !tc.kept && len(s.Names()) != 0 {
				t.Errorf("the store remembers %v", s.Names())
			}
		})
	}
}

func TestRowsNameEachPeerOnce(t *testing.T) {
	s := NewStore()
	dropped := s.Update("a", SourceAgent, []PeerSample{
		{Peer: "c", Sample: answered(3 * ms)},
		{Peer: "b", Sample: answered(ms)},
		{Peer: "b", Sample: answered(2 * ms)},
		{Peer: "a", Sample: answered(0)},
		{Peer: "", Sample: answered(ms)},
	}, testNow())
	if got, _ := s.Lookup("a", "b"); dropped != 3 || got.P50 != ms {
		t.Errorf("dropped %d, b at %s; want 3 (itself, nobody, and b again) and the first of b", dropped, got.P50)
	}
	if dropped := s.Update("a", SourceNone, []PeerSample{{Peer: "b", Sample: answered(ms)}}, testNow()); dropped != 1 {
		t.Error("a sample that nobody told was kept")
	}
}

// TestAStoreIsBounded: names that somebody makes up cannot fill the memory.
func TestAStoreIsBounded(t *testing.T) {
	s := NewStore()
	var peers []PeerSample
	for i := range MaxNames + 100 {
		peers = append(peers, PeerSample{Peer: fmt.Sprint("made-up-", i), Sample: answered(ms)})
	}
	if dropped := s.Update("a", SourceAgent, peers, testNow()); dropped != 101 || len(s.Names()) != MaxNames {
		t.Errorf("dropped %d, %d names; want 101 and %d", dropped, len(s.Names()), MaxNames)
	}
	s.Update("a", SourceAgent, nil, testNow())
	if got := s.Names(); len(got) != 0 {
		t.Errorf("%d names are left after the samples went", len(got))
	}
}

func TestListenersHearWhatChanged(t *testing.T) {
	s := triangle()
	var heard []string
	s.OnChange(func(names []string) {
		if heard = append(heard, names...); len(names) == 0 {
			heard = append(heard, "")
		}
	})
	expect := func(what string, want ...string) {
		t.Helper()
		slices.Sort(heard)
		if diff := cmp.Diff(want, slices.Compact(heard)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		heard = nil
	}
	newer := answered(10 * ms)
	newer.ObservedAt = testNow().Add(time.Minute)
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: newer}, {Peer: "e3", Sample: answered(20 * ms)}}, testNow())
	expect("nothing but the time changed")
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: newer}, {Peer: "e3", Sample: answered(21 * ms)}}, testNow())
	expect("a path became longer", "e1", "e3")
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: newer}}, testNow())
	expect("a path is no longer measured", "e1", "e3")
	s.SetNode("e4", "")
	expect("a node joined", "")
	s.SetNode("e4", "")
	expect("nothing")
}

// TestReadersAndWriters is for the race detector.
func TestReadersAndWriters(t *testing.T) {
	s := triangle()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 200 {
				name := fmt.Sprint("e", 1+(i+worker)%5)
				s.SetNode(name, "west")
				s.Update(name, SourceAgent, []PeerSample{{Peer: "e1", Sample: answered(time.Duration(i) * ms)}}, testNow())
				if radius, ok := s.Radius("e1", Query{Max: time.Duration(i) * ms, Percentile: P50}, testNow()); ok {
					_ = radius.Nodes.Count()
				}
				s.Refine(10)
				s.ZoneRadius("west", Query{Max: ms, Percentile: P50})
				s.Scarce(3, 3, testNow())
				s.Stats(testNow())
				if i%10 == 0 {
					s.RemoveNode(name)
				}
			}
		})
	}
	group.Wait()
	if fault := s.fault(); fault != "" {
		t.Error(fault)
	}
}

func TestCoordinatesThatAreNotTaken(t *testing.T) {
	s := triangle()
	short := Coordinate{Vector: make([]time.Duration, Dimensions-1), Height: ms, Error: 0.1}
	if s.SetCoordinate("e1", short) {
		t.Error("a coordinate of seven dimensions was taken")
	}
	whole := Coordinate{Vector: make([]time.Duration, Dimensions), Height: ms, Error: 0.1}
	if !s.SetCoordinate("e1", whole) || !s.SetCoordinate("e2", whole) {
		t.Fatal("a coordinate was not taken")
	}
	// Two heights of a millisecond at one point.
	if estimate, ok := s.Estimate("e1", "e2"); !ok || estimate.Delay != 2*ms || estimate.By != Estimated {
		t.Errorf("estimate %+v, %v; want 2 ms", estimate, ok)
	}
	s.SetCoordinate("e1", Coordinate{})
	if _, ok := s.Estimate("e1", "e2"); ok {
		t.Error("a coordinate that was taken back still counts")
	}
}

func TestLocator(t *testing.T) {
	a, err := NewLocator(Coordinate{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewLocator(a.Coordinate())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		for _, step := range []struct{ at, of *Locator }{{a, b}, {b, a}} {
			if err := step.at.Observe("peer", step.of.Coordinate(), 10*ms); err != nil {
				t.Fatal(err)
			}
		}
	}
	at, to := a.Coordinate(), b.Coordinate()
	if estimate, ok := at.Distance(&to); !ok || (estimate-10*ms).Abs() > ms {
		t.Errorf("estimate %s, %v; want about 10 ms", estimate, ok)
	}
	for _, wrong := range []time.Duration{-1, time.Minute} {
		if a.Observe("peer", to, wrong) == nil {
			t.Errorf("a round trip of %s was taken", wrong)
		}
	}
	if _, err := NewLocator(Coordinate{Vector: make([]time.Duration, 3)}); err == nil {
		t.Error("a coordinate of three dimensions was taken")
	}
	a.Forget("peer")
}

func TestSourceNames(t *testing.T) {
	for source := SourceFiles; source < sourceCount; source++ {
		if got, ok := ParseSource(source.String()); !ok || got != source {
			t.Errorf("%s is read as %s", source, got)
		}
	}
	if _, ok := ParseSource("None"); ok {
		t.Error("None is no source")
	}
}
