// Package dice draws the simulator's random numbers.
//
// They are those of math/rand's original generator: the predecessor's results are its sequence for a seed, and
// math/rand/v2 does not have it. This package is the only one that names it.
package dice
