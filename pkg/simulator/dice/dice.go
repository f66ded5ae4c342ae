package dice

import "math/rand" //nolint:depguard // the one place that needs the original generator, see doc.go

// Rand is a source of random numbers. It belongs to one goroutine.
type Rand = rand.Rand

// New is a source that gives the same numbers for the same seed, always.
func New(seed int64) *Rand { return rand.New(rand.NewSource(seed)) }
