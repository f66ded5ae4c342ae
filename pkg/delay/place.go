package delay

import (
	"math"
	"time"
)

// place is a coordinate as estimates need it: in seconds, without pointers.
type place struct {
	vector             [Dimensions]float64
	height, adjustment float64
	// spread and slack are the relative and the absolute error, in seconds, that the coordinate showed on the node's
	// measured paths: nine of ten of them were estimated better.
	spread, slack float64
	valid         bool
	// reported means that the node itself says where it is; others are embedded here.
	reported bool
}

// minEstimate bounds estimates from below: serf's heights are at least as much.
const minEstimate = 10e-6

// placeOf converts a coordinate; only those of our own dimensions can be compared.
func placeOf(c *Coordinate) (p place, ok bool) {
	if len(c.Vector) != Dimensions || c.Error < 0 || math.IsNaN(c.Error) {
		return place{}, false
	}
	for i, v := range c.Vector {
		p.vector[i] = v.Seconds()
	}
	p.height, p.adjustment, p.valid = c.Height.Seconds(), c.Adjustment.Seconds(), true
	p.spread, p.slack = c.Error, math.Inf(1)
	return p, true
}

// distance estimates the round-trip time between two places in seconds. It is serf's formula, without its allocations.
func (p *place) distance(to *place) float64 {
	sum := 0.0
	for i := range p.vector {
		d := p.vector[i] - to.vector[i]
		sum += d * d
	}
	raw := math.Sqrt(sum) + p.height + to.height
	if adjusted := raw + p.adjustment + to.adjustment; adjusted > 0 {
		raw = adjusted
	}
	return max(raw, minEstimate)
}

// barFactor widens the error that two nodes' own paths showed to what other paths show. Paths that a coordinate was
// fitted to are estimated better than others; TestEstimates prints how many of those the bar covers.
const barFactor = 2

// estimate returns the estimated round-trip time between two places and its error bar, in seconds. Short paths have the
// larger relative errors and long ones the larger absolute errors, so the lesser of both limits holds for either.
func (p *place) estimate(to *place) (seconds, bar float64) {
	seconds = p.distance(to)
	return seconds, barFactor * min(max(p.spread, to.spread)*seconds, max(p.slack, to.slack))
}

// toMicros rounds up and stays below the value that means none.
func toMicros(seconds float64) uint32 {
	return uint32(min(math.Ceil(seconds*1e6), float64(MaxDelay/time.Microsecond)))
}
