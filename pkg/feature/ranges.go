package feature

import "math"

// Range is the span of each input over the vectors that were seen. A model carries that of its training: inputs outside
// are ones the model has learned nothing about.
type Range struct {
	Lowest, Highest [Inputs]float32
	seen            bool
}

// Add widens the range by vectors that stand one after the other.
func (r *Range) Add(rows []float32) {
	if !r.seen {
		r.seen = true
		for i := range r.Lowest {
			r.Lowest[i], r.Highest[i] = float32(math.Inf(1)), float32(math.Inf(-1))
		}
	}
	for i, v := range rows {
		at := i % Inputs
		r.Lowest[at], r.Highest[at] = min(r.Lowest[at], v), max(r.Highest[at], v)
	}
}
