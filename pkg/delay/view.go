package delay

import (
	"slices"
)

// view is how far every node is from one reference. It is immutable.
type view struct {
	version, topology, estimates, changes uint64
	delays                                []distance // by number
	// guessed means that some delays are estimates, so that the view ages with the coordinates.
	guessed bool
}

// distance is Distance in microseconds.
type distance struct {
	delay, bar uint32
	kind       Kind
}

// viewLocked works out how far every node is from the reference.
func (s *Store) viewLocked(ref NodeID, percentile Percentile) *view {
	n := s.nodes[ref]
	v := &view{
		version: n.version, topology: s.topology.Load(), estimates: s.estimates.Load(), changes: s.changes.Load(),
		delays: make([]distance, len(s.nodes)),
	}
	reached := v.measure(n, percentile)
	v.delays[ref] = distance{kind: Self}
	if !reached {
		// Nobody gets an answer: the reference is dead, not the paths. What was known last goes on to count.
		for i := range v.delays {
			if d := &v.delays[i]; d.kind == Cut && d.delay == none {
				*d = distance{}
			} else if d.kind == Cut {
				d.kind = Measured
			}
		}
	}
	zones := map[string]distance{} // what is typical for each
	for id, other := range s.nodes {
		d := &v.delays[id]
		if d.kind == Unknown && other.present && !n.endpoint {
			*d = s.guessLocked(n, other, zones)
		}
		v.guessed = v.guessed || d.kind == Estimated || d.kind == ZoneMedian
	}
	return v
}

// measure fills in what was measured between the reference and others, and reports whether anybody got an answer.
func (v *view) measure(n *node, percentile Percentile) (reached bool) {
	own := newBits(len(v.delays))
	for i := range n.row {
		e := &n.row[i]
		own.add(e.peer)
		in := e.incoming(e.peer)
		v.delays[e.peer] = in.distance(percentile)
		reached = reached || in.answered
	}
	for i := range n.column {
		in := &n.column[i]
		if in.from == noNode {
			continue
		}
		if own.Has(in.from) {
			if e, ok := find(n.row, in.from); ok && !betterThan(in.worth(), e.worth()) {
				continue
			}
		}
		v.delays[in.from] = in.distance(percentile)
		reached = reached || in.answered
	}
	return reached
}

// betterThan: the other direction counts only where it is known better, not merely later.
func betterThan(other, own worth) bool {
	if other.answered == own.answered && other.source == own.source {
		return other.observed-own.observed >= StaleAfter.Milliseconds()
	}
	return other.compare(own, StaleAfter) > 0
}

func (in *incoming) distance(percentile Percentile) distance {
	d := distance{delay: in.p50, kind: Measured}
	switch {
	case !in.known:
		return distance{delay: none, kind: Cut} // never answered
	case !in.answered:
		d.kind = Cut
	}
	if percentile == P99 {
		if in.p99 != none {
			d.delay = in.p99
		} else if in.source.Measured() && d.kind == Measured {
			// The tail was not told. Of paths whose tail is, few have one longer than twice the median.
			d.kind, d.bar = Estimated, in.p50
		}
	}
	return d
}

// guessLocked estimates the distance of a node whose path to the reference nobody measured. zones remembers what is
// typical between the reference's zone and others.
func (s *Store) guessLocked(ref, other *node, zones map[string]distance) distance {
	if ref.place.valid && other.place.valid {
		seconds, bar := ref.place.estimate(&other.place)
		return distance{delay: toMicros(seconds), bar: toMicros(bar), kind: Estimated}
	}
	typical, ok := zones[other.zone]
	if !ok {
		if median, found := s.zoneMedianLocked(ref.zone, other.zone); found {
			typical = distance{delay: median.p50, bar: median.bar, kind: ZoneMedian}
		}
		zones[other.zone] = typical
	}
	return typical
}

// zoneView is how far every node is from a zone: the median over the zone's nodes of what was measured to them, or what
// is typical between the zones.
func (s *Store) zoneView(zone string, percentile Percentile) *view {
	s.mu.RLock()
	defer s.mu.RUnlock()
	key := zoneViewKey{zone: zone, percentile: percentile}
	s.zones.mu.Lock()
	v, ok := s.zones.views[key]
	s.zones.mu.Unlock()
	if ok && v.topology == s.topology.Load() && s.settled(v.changes) {
		return v
	}
	v = &view{topology: s.topology.Load(), changes: s.changes.Load(), delays: make([]distance, len(s.nodes))}
	for id, n := range s.nodes {
		if n.present {
			v.delays[id] = s.fromZoneLocked(n, zone, percentile)
		}
	}
	s.zones.mu.Lock()
	defer s.zones.mu.Unlock()
	if len(s.zones.views) >= maxViews {
		clear(s.zones.views)
	}
	s.zones.views[key] = v
	return v
}

func (s *Store) fromZoneLocked(n *node, zone string, percentile Percentile) distance {
	if n.zone == zone {
		return distance{kind: Self}
	}
	var found []uint32
	for i := range n.row {
		e := &n.row[i]
		if e.answered() && s.nodes[e.peer].zone == zone {
			found = append(found, tail(e.p50, e.p99, percentile))
		}
	}
	for i := range n.column {
		in := &n.column[i]
		if in.from != noNode && in.answered && s.nodes[in.from].zone == zone && !contains(n.row, in.from) {
			found = append(found, tail(in.p50, in.p99, percentile))
		}
	}
	if len(found) > 0 {
		slices.Sort(found)
		return distance{delay: found[len(found)/2], kind: Measured}
	}
	if median, ok := s.zoneMedianLocked(n.zone, zone); ok {
		return distance{delay: median.p50, bar: median.bar, kind: ZoneMedian}
	}
	return distance{}
}

// tail returns a percentile; one that was not told counts as twice the median, as it does between nodes.
func tail(p50, p99 uint32, percentile Percentile) uint32 {
	switch {
	case percentile == P50:
		return p50
	case p99 != none:
		return p99
	default:
		return 2 * p50
	}
}

// HasZone reports whether a node of the cluster is in the zone.
func (s *Store) HasZone(zone string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.zones.mu.Lock()
	defer s.zones.mu.Unlock()
	return len(s.zoneMembersLocked(zone)) > 0
}
