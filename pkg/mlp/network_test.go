package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kernels are the ways to evaluate a tile on this machine, by name.
func kernels() map[string]kernel {
	return map[string]kernel{"portable": portable, "fastest": fastestKernel()}
}

// The arithmetic of a network with two inputs, two hidden units and one output, by hand.
func TestForwardByHand(t *testing.T) {
	n, err := NewNetwork([]Layer{
		{Inputs: 2, Outputs: 2, Weights: []float32{1, 2, -3, 1}, Bias: []float32{0.5, 1}},
		{Inputs: 2, Outputs: 1, Weights: []float32{2, -1}, Bias: []float32{-10}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		x    []float32
		want float32
	}{
		// hidden: 1x3 + 2x4 + 0.5 = 11.5; -3x3 + 1x4 + 1 = -4, which the rectifier raises to 0. 2x11.5 - 0 - 10 = 13.
		{"the rectifier cuts the second hidden unit", []float32{3, 4}, 13},
		// hidden: 0.5 and 1. 2x0.5 - 1 - 10 = -10: the last layer has no rectifier.
		{"biases alone, and an output below zero", []float32{0, 0}, -10},
		// hidden: -2 + 4 + 0.5 = 2.5; 6 + 2 + 1 = 9. 2x2.5 - 9 - 10 = -14.
		{"both hidden units are on", []float32{-2, 2}, -14},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s Scratch
			if diff := cmp.Diff([]float32{c.want}, n.Forward(make([]float32, 1), &s, c.x)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// naive is the formula, in float64, without tiles or padding.
func naive(layers []Layer, x []float32) []float64 {
	in := make([]float64, len(x))
	for i, v := range x {
		in[i] = float64(v)
	}
	for k, l := range layers {
		out := make([]float64, l.Outputs)
		for o := range out {
			out[o] = float64(l.Bias[o])
			for i, v := range in {
				out[o] += v * float64(l.Weights[o*l.Inputs+i])
			}
			if k < len(layers)-1 {
				out[o] = max(0, out[o])
			}
		}
		in = out
	}
	return in
}

// randomLayers makes layers of the given widths with weights as a trainer would start with.
func randomLayers(random *rand.Rand, widths ...int) []Layer {
	var layers []Layer
	for i := 1; i < len(widths); i++ {
		l := Layer{Inputs: widths[i-1], Outputs: widths[i]}
		for range l.Inputs * l.Outputs {
			l.Weights = append(l.Weights, float32(random.NormFloat64()/math.Sqrt(float64(l.Inputs))))
		}
		for range l.Outputs {
			l.Bias = append(l.Bias, float32(random.NormFloat64()))
		}
		layers = append(layers, l)
	}
	return layers
}

func randomRows(random *rand.Rand, values int) []float32 {
	x := make([]float32, values)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return x
}

func TestForwardEqualsTheFormula(t *testing.T) {
	for name, kernel := range kernels() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				widths := []int{1 + random.IntN(70), 1 + random.IntN(70), 1 + random.IntN(40), 1 + random.IntN(3)}
				layers := randomLayers(random, widths...)
				n, err := NewNetwork(layers)
				if err != nil {
					t.Fatal(err)
				}
				n.kernel = kernel
				rows := 1 + random.IntN(19)
				x := randomRows(random, rows*widths[0])
				var s Scratch
				got := n.Forward(make([]float32, rows*n.Outputs()), &s, x)
				for r := range rows {
					compareRow(t, fmt.Sprintf("widths %v, row %d of %d", widths, r, rows),
						naive(layers, x[r*widths[0]:(r+1)*widths[0]]), got[r*n.Outputs():])
				}
			}
		})
	}
}

func compareRow(t *testing.T, what string, want []float64, got []float32) {
	t.Helper()
	for o, w := range want {
		// Three layers of 70 sums: some hundred roundings of 6e-8 each.
		if math.Abs(w-float64(got[o])) > 1e-4*(1+math.Abs(w)) {
			t.Fatalf("%s: output %d: want %v, got %v", what, o, w, got[o])
		}
	}
}

func TestARowDoesNotDependOnItsBatch(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	n, err := NewNetwork(randomLayers(random, 64, 64, 32, 1))
	if err != nil {
		t.Fatal(err)
	}
	const rows = 23
	x := randomRows(random, rows*64)
	var s Scratch
	together := n.Forward(make([]float32, rows), &s, x)
	for r := range rows {
		if alone := n.Forward(make([]float32, 1), &s, x[r*64:(r+1)*64]); alone[0] != together[r] {
			t.Errorf("row %d: %v alone, %v in a batch of %d", r, alone[0], together[r], rows)
		}
	}
}

func TestANaNIsNotHidden(t *testing.T) {
	for name, kernel := range kernels() {
		t.Run(name, func(t *testing.T) {
			n, err := NewNetwork(randomLayers(rand.New(rand.NewPCG(5, 6)), 3, 16, 1))
			if err != nil {
				t.Fatal(err)
			}
			n.kernel = kernel
			var s Scratch
			got := n.Forward(make([]float32, 2), &s, []float32{1, float32(math.NaN()), 1, 1, 1, 1})
			if !math.IsNaN(float64(got[0])) || math.IsNaN(float64(got[1])) {
				t.Errorf("want NaN for the first row only, got %v", got)
			}
		})
	}
}

func TestNetworksThatAreRefused(t *testing.T) {
	good := func() Layer { return Layer{Inputs: 2, Outputs: 1, Weights: []float32{1, 2}, Bias: []float32{0}} }
	cases := []struct {
		name   string
		layers func() []Layer
		want   string
	}{
		{"no layer", func() []Layer { return nil }, "want 1 to 16 layers, found 0"},
		{"too many layers", func() []Layer { return make([]Layer, MaxLayers+1) }, "found 17"},
		{"a layer without inputs", func() []Layer { return make([]Layer, 1) }, "layer 0: want 1 to 4096 inputs and outputs, found 0 and 0"},
		{"too few weights", func() []Layer { l := good(); l.Weights = l.Weights[1:]; return []Layer{l} }, "layer 0: want 1 x 2 weights, found 1"},
		{"no bias", func() []Layer { l := good(); l.Bias = nil; return []Layer{l} }, "want a bias for each of 1 outputs, found 0"},
		{
			"a weight that is not a number", func() []Layer { l := good(); l.Weights[1] = float32(math.NaN()); return []Layer{l} },
			"want finite weights, found NaN from input 1 to output 0",
		},
		{"an infinite bias", func() []Layer { l := good(); l.Bias[0] = float32(math.Inf(1)); return []Layer{l} }, "want finite biases, found +Inf"},
		{"layers that do not fit", func() []Layer { return []Layer{good(), good()} }, "layer 1: want the 1 outputs of the layer before as inputs, found 2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewNetwork(c.layers()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

func TestForwardDoesNotAllocate(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	n, err := NewNetwork(randomLayers(random, 64, 64, 32, 1))
	if err != nil {
		t.Fatal(err)
	}
	x, dst := randomRows(random, 501*64), make([]float32, 501)
	var s Scratch
	n.Forward(dst, &s, x)
	if allocations := testing.AllocsPerRun(10, func() { n.Forward(dst, &s, x) }); allocations != 0 {
		t.Errorf("want no allocation, got %v", allocations)
	}
}

func BenchmarkForward(b *testing.B) {
	for _, rows := range []int{500, 1213, 5000} {
		for name, kernel := range kernels() {
			b.Run(fmt.Sprintf("rows=%d/%s", rows, name), func(b *testing.B) {
				random := rand.New(rand.NewPCG(9, 10))
				n, err := NewNetwork(randomLayers(random, 64, 64, 32, 1))
				if err != nil {
					b.Fatal(err)
				}
				n.kernel = kernel
				x, dst := randomRows(random, rows*64), make([]float32, rows)
				var s Scratch
				b.ReportAllocs()
				for b.Loop() {
					n.Forward(dst, &s, x)
				}
				b.ReportMetric(float64(rows)*(64*64+64*32+32)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
	}
}
