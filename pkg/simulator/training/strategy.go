package training

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Strategy is a separable (mu/mu, lambda) evolution strategy: it keeps a mean and a step size for each weight, draws
// candidates around the mean, and moves to the mean of the best. Its exported fields are all of its state.
type Strategy struct {
	// Mean are the weights, Steps the standard deviation of each.
	Mean, Steps []float64
	// Generation counts the generations that are done.
	Generation int
	// Seed decides all draws together with Generation, so that a strategy that was stopped goes on as if it had not.
	Seed uint64
}

const (
	// candidates are drawn in each generation, and the best parents of them make the next mean.
	candidates, parents = 16, 4
	// stepMemory is how much of a step size remains when the spread of the parents is mixed in, and smallestStep what it
	// never falls below: scores are compared in hundredths, and smaller changes do nothing.
	stepMemory, smallestStep = 0.85, 0.002
)

func newStrategy(mean []float64, step float64, seed uint64) *Strategy {
	s := &Strategy{Mean: slices.Clone(mean), Steps: make([]float64, len(mean)), Seed: seed}
	for i := range s.Steps {
		s.Steps[i] = step
	}
	return s
}

// ask draws the candidates of this generation. The first is the mean itself: it shows how far the search has come.
func (s *Strategy) ask() [][]float64 {
	random := rand.New(rand.NewPCG(s.Seed, uint64(s.Generation)))
	drawn := make([][]float64, candidates)
	for c := range drawn {
		drawn[c] = slices.Clone(s.Mean)
		for i := range drawn[c] {
			if c > 0 {
				drawn[c][i] += s.Steps[i] * random.NormFloat64()
			}
		}
	}
	return drawn
}

// tell moves the mean to that of the best candidates. values are those of what ask drew, higher is better.
func (s *Strategy) tell(drawn [][]float64, values []float64) {
	order := make([]int, len(drawn))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	for i := range s.Mean {
		sum, squares := 0.0, 0.0
		for _, c := range order[:parents] {
			sum += drawn[c][i]
			squares += (drawn[c][i] - s.Mean[i]) * (drawn[c][i] - s.Mean[i])
		}
		s.Mean[i] = sum / parents
		s.Steps[i] = max(smallestStep, stepMemory*s.Steps[i]+(1-stepMemory)*math.Sqrt(squares/parents))
	}
	s.Generation++
}
