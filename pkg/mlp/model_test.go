package mlp

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

// numpyFile is a network that NumPy evaluated; testdata/golden.py has written it.
func numpyFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOutputsAreNumPys(t *testing.T) {
	raw, err := safetensors.Decode(numpyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := LayersOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	golden := Golden{Inputs: raw.Tensors[goldenInputs].Values, Outputs: raw.Tensors[goldenOutputs].Values}
	for name, kernel := range kernels() {
		t.Run(name, func(t *testing.T) {
			n, err := NewNetwork(layers)
			if err != nil {
				t.Fatal(err)
			}
			n.kernel = kernel
			if err := golden.check(n); err != nil {
				t.Error(err)
			}
		})
	}
}

// smallFile is a model of 3-4-1 that passes its goldens.
func smallFile(t testing.TB) *File {
	t.Helper()
	random := rand.New(rand.NewPCG(11, 12))
	f := &File{
		Info:   Info{Name: "small", Schema: "test/v1", SchemaHash: "cafe", TrainedOn: "nothing", Seeds: "1", Gates: "none", Typical: "[]"},
		Layers: randomLayers(random, 3, 4, 1), Lowest: []float32{0, 0, -1}, Highest: []float32{1, 1, 1},
	}
	n, err := NewNetwork(f.Layers)
	if err != nil {
		t.Fatal(err)
	}
	f.Golden.Inputs = randomRows(random, 5*3)
	f.Golden.Outputs = n.Forward(make([]float32, 5), &Scratch{}, f.Golden.Inputs)
	return f
}

func TestAFileSurvivesBeingWritten(t *testing.T) {
	f := smallFile(t)
	data, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Decode(data, "cafe")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.Info, m.Info); diff != "" {
		t.Errorf("info (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff([][]float32{f.Lowest, f.Highest}, [][]float32{m.Lowest, m.Highest}); diff != "" {
		t.Errorf("ranges (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(f.Golden.Outputs, m.Forward(make([]float32, 5), &Scratch{}, f.Golden.Inputs)); diff != "" {
		t.Errorf("outputs (-written +read):\n%s", diff)
	}
	again, err := f.Encode()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("want the same bytes from the same model, error %v", err)
	}
}

func TestModelsThatAreRefused(t *testing.T) {
	cases := []struct {
		name   string
		damage func(*safetensors.File)
		want   string
	}{
		{"another format", func(f *safetensors.File) { f.Metadata[formatKey] = "pt" }, "`vicinity model import`"},
		{"another schema", func(f *safetensors.File) { f.Metadata[schemaHashKey] = "beef" }, "found one for test/v1 with hash beef: train it anew"},
		{"renamed", func(f *safetensors.File) { f.Metadata[architectureKey] = "3-5-1" }, `want metadata architecture "3-4-1"`},
		{"a weight that is not a number", func(f *safetensors.File) {
			f.Tensors["layers.0.weight"].Values[0] = float32(math.NaN())
		}, "layer 0: want finite weights"},
		{"a weight that was changed", func(f *safetensors.File) { f.Tensors["layers.1.bias"].Values[0]++ }, "the file is damaged"},
		{"a golden that is not a number", func(f *safetensors.File) {
			f.Tensors[goldenOutputs].Values[2] = float32(math.NaN())
		}, "golden row 2: want output NaN"},
		{"no goldens", func(f *safetensors.File) { delete(f.Tensors, goldenInputs); delete(f.Tensors, goldenOutputs) }, "want golden inputs and outputs"},
		{"no layer", func(f *safetensors.File) {
			for i := range 2 {
				delete(f.Tensors, []string{"layers.0.weight", "layers.1.weight"}[i])
			}
		}, "want 1 to 16 layers, found 0"},
		{"a layer in the middle is gone", func(f *safetensors.File) { delete(f.Tensors, "layers.0.weight") }, "want metadata architecture"},
		{"a layer without a bias", func(f *safetensors.File) { delete(f.Tensors, "layers.0.bias") }, `layer "layers.0": want a weight with two dimensions`},
		{"a sequence beside the sequence", func(f *safetensors.File) {
			f.Tensors["other.0.weight"] = f.Tensors["layers.0.weight"]
		}, "want all layers in one sequence"},
		{"a weight without a number", func(f *safetensors.File) { f.Tensors["norm.weight"] = f.Tensors["layers.0.weight"] }, "want a layer's number"},
		{"half a range", func(f *safetensors.File) { delete(f.Tensors, lowestInputs) }, "found 0 and 3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			data, err := smallFile(t).Encode()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := safetensors.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			c.damage(raw)
			if data, err = raw.Encode(); err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(data, "cafe"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

func TestTwoOutputsAreNoScore(t *testing.T) {
	f := smallFile(t)
	f.Layers = randomLayers(rand.New(rand.NewPCG(1, 1)), 3, 2)
	n, err := NewNetwork(f.Layers)
	if err != nil {
		t.Fatal(err)
	}
	f.Golden.Outputs = n.Forward(make([]float32, 10), &Scratch{}, f.Golden.Inputs)
	if _, err := f.Encode(); err == nil {
		t.Error("want a refusal of two outputs")
	}
}

func TestEncodeRefusesAModelThatMissesItsGoldens(t *testing.T) {
	f := smallFile(t)
	f.Golden.Outputs[0]++
	if _, err := f.Encode(); err == nil || !strings.Contains(err.Error(), "golden row 0") {
		t.Errorf("want an error about golden row 0, got %v", err)
	}
}

// FuzzDecode: no file, however made, crashes the reader; what is accepted can be evaluated.
func FuzzDecode(f *testing.F) {
	data, err := smallFile(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(numpyFile(f)[:2000])
	f.Fuzz(func(_ *testing.T, data []byte) {
		m, err := Decode(data, "cafe")
		if err != nil {
			return
		}
		m.Forward(make([]float32, 1), &Scratch{}, make([]float32, m.Inputs()))
	})
}
