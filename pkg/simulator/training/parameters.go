package training

import (
	"math"
	"math/rand/v2"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// The widths of the network: feature.Inputs, firstWidth, secondWidth, 1.
const (
	firstWidth, secondWidth = 64, 32
	// randomUnits are the units of the second layer that the last one weighs; the remaining one is the path.
	randomUnits = secondWidth - 1
	// searched is how many weights are searched for: one for each feature and one for each random unit.
	searched = feature.Count + randomUnits
	// lift keeps the path's sum above zero, where the rectifier lets it through. Features are about 1 in size.
	lift = 16
)

// start are the searched weights of a network that does what FGD does.
func start() []float64 {
	x := make([]float64, searched)
	for i, f := range feature.Schema() {
		if f.Name == fgdFeature {
			x[i] = 1
		}
	}
	return x
}

const fgdFeature = "fragment.score"

// layers turns searched weights into a network. Unit 0 of both hidden layers is the path: a weighted sum of features.
// The other units have random weights that the seed decides and that stay as they are; the last layer weighs them.
func layers(x []float64, seed uint64) []mlp.Layer {
	random := rand.New(rand.NewPCG(seed, seed))
	first := randomLayer(random, feature.Inputs, firstWidth)
	second := randomLayer(random, firstWidth, secondWidth)
	clear(first.Weights[:feature.Inputs])
	for i, w := range x[:feature.Count] {
		first.Weights[i] = float32(w)
	}
	first.Bias[0] = lift
	// The path sees nothing but itself, and the random units do not see the path.
	clear(second.Weights[:firstWidth])
	for unit := range secondWidth {
		second.Weights[unit*firstWidth] = 0
	}
	second.Weights[0], second.Bias[0] = 1, 0
	last := mlp.Layer{Inputs: secondWidth, Outputs: 1, Weights: make([]float32, secondWidth), Bias: []float32{-lift}}
	last.Weights[0] = 1
	for i, w := range x[feature.Count:] {
		last.Weights[1+i] = float32(w)
	}
	return []mlp.Layer{first, second, last}
}

// randomLayer draws weights that neither swell nor fade what rectified inputs carry: He et al., "Delving Deep into
// Rectifiers" (ICCV 2015).
func randomLayer(random *rand.Rand, inputs, outputs int) mlp.Layer {
	l := mlp.Layer{Inputs: inputs, Outputs: outputs, Weights: make([]float32, inputs*outputs), Bias: make([]float32, outputs)}
	deviation := math.Sqrt(2 / float64(inputs))
	for i := range l.Weights {
		l.Weights[i] = float32(deviation * random.NormFloat64())
	}
	for i := range l.Bias {
		l.Bias[i] = float32(0.1 * random.NormFloat64())
	}
	return l
}
