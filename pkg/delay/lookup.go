package delay

import (
	"cmp"
	"slices"
	"time"
)

// find returns the sample of a row about a peer.
func find(row []entry, peer NodeID) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(row, peer, func(e entry, id NodeID) int { return cmp.Compare(e.peer, id) })
	if !ok {
		return nil, false
	}
	return &row[i], true
}

// Lookup returns the sample that counts of the path as from measured it; ok is false when it did not.
func (s *Store) Lookup(from, to string) (sample Sample, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, b, ok := s.pairLocked(from, to)
	if !ok {
		return Sample{}, false
	}
	e, ok := find(s.nodes[a].row, b)
	if !ok {
		return Sample{}, false
	}
	return e.sample(), true
}

// Samples returns what every source knows of the path as from measured it, the best source first.
func (s *Store) Samples(from, to string) []Sample {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, b, ok := s.pairLocked(from, to)
	if !ok {
		return nil
	}
	var samples []Sample
	for source := sourceCount - 1; source > SourceNone; source-- {
		if e, ok := find(s.nodes[a].bySource[source].row, b); ok {
			samples = append(samples, e.sample())
		}
	}
	return samples
}

func (s *Store) pairLocked(from, to string) (a, b NodeID, ok bool) {
	a, ok = s.ids[from]
	if !ok {
		return 0, 0, false
	}
	b, ok = s.ids[to]
	return a, b, ok
}

// Estimate is a round-trip time that was not measured.
type Estimate struct {
	// Delay is the median to expect.
	Delay time.Duration
	// Bar is how much it may be wrong: at least nine of ten paths are within Delay plus or minus Bar.
	Bar time.Duration
	// By is what it was estimated from.
	By Kind
}

// Estimate estimates a path whether or not it was measured: from coordinates, else from the nodes' zones; ok is false
// when there is neither.
func (s *Store) Estimate(from, to string) (estimate Estimate, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, b, ok := s.pairLocked(from, to)
	if !ok {
		return Estimate{}, false
	}
	x, y := &s.nodes[a].place, &s.nodes[b].place
	if x.valid && y.valid {
		seconds, bar := x.estimate(y)
		return Estimate{Delay: duration(toMicros(seconds)), Bar: duration(toMicros(bar)), By: Estimated}, true
	}
	median, ok := s.zoneMedianLocked(s.nodes[a].zone, s.nodes[b].zone)
	return Estimate{Delay: duration(median.p50), Bar: duration(median.bar), By: ZoneMedian}, ok
}

// Stats tell how much a store knows.
type Stats struct {
	// Nodes is the number of names.
	Nodes int
	// Pairs is the number of ordered pairs with a sample, by the source that counts and how old it is.
	Pairs map[PairClass]int
	// MeanError is the mean relative error of the estimates of measured paths; it means nothing unless HasError.
	MeanError float64
	HasError  bool
}

// PairClass is what pairs are counted by.
type PairClass struct {
	Source Source
	Stale  bool
}

// Stats walks over all samples: some milliseconds at 5,000 nodes with 64 peers each.
func (s *Store) Stats(now time.Time) Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	stats := Stats{Nodes: len(s.ids), Pairs: map[PairClass]int{}}
	sum, measured := 0.0, 0
	for _, n := range s.nodes {
		for i := range n.row {
			e := &n.row[i]
			sample := Sample{ObservedAt: time.UnixMilli(e.observed), Source: e.source}
			stats.Pairs[PairClass{Source: e.source, Stale: sample.Stale(now, StaleAfter)}]++
			if other := &s.nodes[e.peer].place; e.answered() && e.p50 > 0 && n.place.valid && other.valid {
				rtt := duration(e.p50).Seconds()
				sum += max(n.place.distance(other)-rtt, rtt-n.place.distance(other)) / rtt
				measured++
			}
		}
	}
	if measured > 0 {
		stats.MeanError, stats.HasError = sum/float64(measured), true
	}
	return stats
}
