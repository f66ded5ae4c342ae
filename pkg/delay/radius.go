package delay

import (
	"time"
)

// Percentile says which of a path's delays is bounded.
type Percentile uint8

// The percentiles that sources tell.
const (
	P50 Percentile = 50
	P99 Percentile = 99
)

// Policy says what becomes of nodes whose delay nobody measured.
type Policy uint8

const (
	// PolicyEstimate takes estimated delays if they are within the bound together with their error bar.
	PolicyEstimate Policy = iota
	// PolicyReject takes measured delays only.
	PolicyReject
	// PolicyAllow takes every node that is not known to be too far.
	PolicyAllow
)

// Query is a bound of the round-trip time to one reference.
type Query struct {
	// Max is the longest round-trip time that is within the bound.
	Max        time.Duration
	Percentile Percentile
	OnUnknown  Policy
}

// Kind says how a delay is known.
type Kind uint8

const (
	// Unknown is a pair that nobody measured and that cannot be estimated.
	Unknown Kind = iota
	// Measured was told by a source.
	Measured
	// Estimated follows from coordinates, or from the median where a tail percentile is wanted and was not told.
	Estimated
	// ZoneMedian is what is typical between the nodes' zones.
	ZoneMedian
	// Cut is a pair that was measured and is not answered now, while others reach the reference.
	Cut
	// Self is the reference itself.
	Self
)

// String returns the kind as metrics and tables show it.
func (k Kind) String() string {
	return [...]string{"unknown", "measured", "estimated", "zone median", "cut", "self"}[min(k, Self)]
}

// Distance is how far a node is from a reference.
type Distance struct {
	Delay time.Duration
	// Bar is the error bar of an estimate, 0 for what was measured.
	Bar  time.Duration
	Kind Kind
}

// Radius is the set of the nodes within a bound. It is immutable.
type Radius struct {
	// Nodes are those within the bound.
	Nodes Bits
	// Size is their number.
	Size  int
	view  *view
	query Query
}

// Distance returns how far a node is from the radius' reference.
func (r *Radius) Distance(id NodeID) Distance {
	v := r.view
	if int(id) >= len(v.delays) {
		return Distance{}
	}
	d := v.delays[id]
	if d.delay == none { // never answered
		d.delay = 0
	}
	return Distance{Delay: duration(d.delay), Bar: duration(d.bar), Kind: d.kind}
}

// Margin is the share of the bound that a node leaves over, 0 to 1: 1 at the reference itself, 0 at the bound, beyond
// it, and where nothing is known. It does not allocate.
func (r *Radius) Margin(id NodeID) float64 {
	v := r.view
	if int(id) >= len(v.delays) {
		return 0
	}
	d := &v.delays[id]
	if d.kind == Unknown || d.kind == Cut {
		return 0
	}
	if d.delay == 0 {
		return 1
	}
	if r.query.Max <= 0 {
		return 0
	}
	return max(0, 1-float64(duration(d.delay))/float64(r.query.Max))
}

// within says whether a node at that distance is within the bound.
func (q *Query) within(d *distance) bool {
	limit := uint64(q.Max / time.Microsecond)
	switch d.kind {
	case Self:
		return true
	case Measured:
		return uint64(d.delay) <= limit
	case Cut:
		return false
	case Estimated, ZoneMedian:
		switch q.OnUnknown {
		case PolicyReject:
			return false
		case PolicyAllow:
			return true
		default:
			return uint64(d.delay)+uint64(d.bar) <= limit
		}
	default:
		return q.OnUnknown == PolicyAllow
	}
}

// Radius returns the nodes within a bound of a node or endpoint; ok is false for a name that the store has not heard
// of. now is remembered as the time of the last use.
func (s *Store) Radius(ref string, q Query, now time.Time) (radius *Radius, ok bool) {
	id, ok := s.Index().ID(ref)
	if !ok {
		return nil, false
	}
	return s.radius(radiusKey{ref: id, query: q}, now), true
}

// ZoneRadius returns the nodes within a bound of a zone: those of the zone, and those of whose measured paths to its
// nodes the median is within the bound.
func (s *Store) ZoneRadius(zone string, q Query) *Radius {
	return newRadius(s.zoneView(zone, q.Percentile), q)
}

func newRadius(v *view, q Query) *Radius {
	r := &Radius{Nodes: newBits(len(v.delays)), view: v, query: q}
	for i := range v.delays {
		if q.within(&v.delays[i]) {
			r.Nodes.add(NodeID(i))
			r.Size++
		}
	}
	return r
}
