package mlp

import (
	"fmt"
	"math"
	"slices"
)

// MaxLayers and MaxWidth bound what a network may look like: a file from outside decides about memory and time.
const (
	MaxLayers = 16
	MaxWidth  = 4096
)

// Layer is one dense layer as trainers have it.
type Layer struct {
	// Inputs and Outputs are the numbers of features that go in and come out, 1 to MaxWidth.
	Inputs, Outputs int
	// Weights holds one row of Inputs values for each output, as PyTorch's nn.Linear.
	Weights []float32
	// Bias holds one value for each output.
	Bias []float32
}

// check returns what is wrong with the layer, in words that fit behind its name.
func (l *Layer) check() error {
	switch {
	case l.Inputs < 1 || l.Inputs > MaxWidth || l.Outputs < 1 || l.Outputs > MaxWidth:
		return fmt.Errorf("want 1 to %d inputs and outputs, found %d and %d", MaxWidth, l.Inputs, l.Outputs)
	case len(l.Weights) != l.Inputs*l.Outputs:
		return fmt.Errorf("want %d x %d weights, found %d", l.Outputs, l.Inputs, len(l.Weights))
	case len(l.Bias) != l.Outputs:
		return fmt.Errorf("want a bias for each of %d outputs, found %d", l.Outputs, len(l.Bias))
	}
	if i := slices.IndexFunc(l.Weights, notFinite); i >= 0 {
		return fmt.Errorf("want finite weights, found %v from input %d to output %d", l.Weights[i], i%l.Inputs, i/l.Inputs)
	}
	if i := slices.IndexFunc(l.Bias, notFinite); i >= 0 {
		return fmt.Errorf("want finite biases, found %v for output %d", l.Bias[i], i)
	}
	return nil
}

func notFinite(v float32) bool {
	return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)
}

// Network is a multilayer perceptron, ready to be evaluated. It is safe for concurrent use.
type Network struct {
	layers []packed
	kernel kernel
}

// NewNetwork checks the layers and packs their weights for evaluation. It keeps none of the slices.
func NewNetwork(layers []Layer) (*Network, error) {
	if len(layers) < 1 || len(layers) > MaxLayers {
		return nil, fmt.Errorf("want 1 to %d layers, found %d", MaxLayers, len(layers))
	}
	n := &Network{kernel: fastestKernel()}
	before := layers[0].Inputs
	for i := range layers {
		if err := layers[i].check(); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		if layers[i].Inputs != before {
			return nil, fmt.Errorf("layer %d: want the %d outputs of the layer before as inputs, found %d", i, before, layers[i].Inputs)
		}
		before = layers[i].Outputs
		floor := float32(0)
		if i == len(layers)-1 {
			floor = float32(math.Inf(-1))
		}
		n.layers = append(n.layers, pack(&layers[i], floor))
	}
	return n, nil
}

// Inputs returns the number of features of a row.
func (n *Network) Inputs() int { return n.layers[0].inputs }

// Outputs returns the number of values that a row yields.
func (n *Network) Outputs() int { return n.layers[len(n.layers)-1].outputs }

// Scratch is the memory that an evaluation works in. Its zero value is ready to use; it grows to the largest batch and
// is kept from one evaluation to the next. It must not be used by two evaluations at a time.
type Scratch struct {
	input         []float32
	front, behind []float32
	tile          tile
}

// Forward evaluates the rows that stand one after the other in x, and writes Outputs values for each to dst, which it
// returns. It does not allocate once the scratch has grown.
//
// len(x) must be a multiple of Inputs, and dst must have room; anything else panics, as an index out of range does: the
// lengths come from the caller's own arithmetic, never from data.
func (n *Network) Forward(dst []float32, s *Scratch, x []float32) []float32 {
	width := n.Inputs()
	rows := len(x) / width
	dst = dst[:rows*n.Outputs()]
	if rows*width != len(x) {
		panic(fmt.Sprintf("mlp: want rows of %d features, found %d values", width, len(x)))
	}
	if rows == 0 {
		return dst
	}
	// Whole tiles only: the rows beyond are evaluated and thrown away. A row of a tile does not see the others.
	padded := roundUp(rows, tileRows)
	from, stride := x, width
	if padded != rows {
		from = grow(&s.input, padded*width)
		clear(from[copy(from, x):])
	}
	for i := range n.layers {
		l := &n.layers[i]
		to := grow(&s.front, padded*l.padded)
		l.evaluate(n.kernel, &s.tile, to, from, padded, stride)
		from, stride = to, l.padded
		s.front, s.behind = s.behind, s.front
	}
	outputs := n.Outputs()
	for r := range rows {
		copy(dst[r*outputs:(r+1)*outputs], from[r*stride:])
	}
	return dst
}

// grow returns a slice of n values that uses buffer's memory, which is made larger when it is too small.
func grow(buffer *[]float32, n int) []float32 {
	if cap(*buffer) < n {
		*buffer = make([]float32, n)
	}
	*buffer = (*buffer)[:n]
	return *buffer
}

func roundUp(n, multiple int) int {
	return (n + multiple - 1) / multiple * multiple
}
