package mlp

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

const (
	// Format is the value of the metadata key "format" in files that Decode reads.
	Format = "vicinity.dev/model/v1"

	formatKey, schemaKey, schemaHashKey, architectureKey = "format", "schema", "schemaHash", "architecture"
	nameKey, trainedOnKey, seedsKey, gatesKey            = "name", "trainedOn", "seeds", "gates"
	typicalKey                                           = "typicalPods"

	layerPrefix                 = "layers."
	goldenInputs, goldenOutputs = "golden.inputs", "golden.outputs"
	lowestInputs, highestInputs = "range.lowest", "range.highest"

	// goldenTolerance is how far an output may be from the recorded one, in parts of 1 + its size. Kernels differ by
	// roundings of 6e-8 in some hundred sums.
	goldenTolerance = 1e-4
)

// Info is what a file says of where a model comes from. All of it but the schema is for people.
type Info struct {
	// Name is what the model is called in logs and records.
	Name string
	// Schema and SchemaHash identify the features that the model reads; see pkg/feature.
	Schema, SchemaHash string
	// TrainedOn names the workloads, Seeds the seeds of training, Gates what the model was measured against and how it
	// did.
	TrainedOn, Seeds, Gates string
	// Typical are the pods that fragmentation is measured for, as package feature writes them; empty: none.
	Typical string
}

// Golden are inputs with the outputs that the model must give for them.
type Golden struct {
	// Inputs and Outputs hold rows of the network's inputs and outputs.
	Inputs, Outputs []float32
}

// Model is a trained network that has passed its own goldens.
type Model struct {
	Info
	*Network
	// Lowest and Highest are the range of each input in training; nil when the file has none.
	Lowest, Highest []float32
}

// File is all that a model's file is made of.
type File struct {
	Info
	Layers          []Layer
	Golden          Golden
	Lowest, Highest []float32
}

// Decode reads a model and makes sure that it can be used: that it is of this format, was trained for the schema with
// the given hash, has one output and finite weights, and gives its golden outputs on this machine.
func Decode(data []byte, schemaHash string) (*Model, error) {
	raw, err := safetensors.Decode(data)
	if err != nil {
		return nil, err
	}
	if format := raw.Metadata[formatKey]; format != Format {
		return nil, fmt.Errorf("want metadata format %q, found %q: bring weights trained elsewhere with `vicinity model import`", Format, format)
	}
	if found := raw.Metadata[schemaHashKey]; found != schemaHash {
		return nil, fmt.Errorf("want a model for the feature schema with hash %.12s, found one for %s with hash %.12s: train it anew",
			schemaHash, raw.Metadata[schemaKey], found)
	}
	layers, err := LayersOf(raw)
	if err != nil {
		return nil, err
	}
	network, err := NewNetwork(layers)
	if err != nil {
		return nil, err
	}
	if network.Outputs() != 1 {
		return nil, fmt.Errorf("want one output, the score, found %d", network.Outputs())
	}
	if want := architecture(layers); raw.Metadata[architectureKey] != want {
		return nil, fmt.Errorf("want metadata architecture %q, as the tensors have, found %q", want, raw.Metadata[architectureKey])
	}
	golden := Golden{Inputs: raw.Tensors[goldenInputs].Values, Outputs: raw.Tensors[goldenOutputs].Values}
	if err := golden.check(network); err != nil {
		return nil, err
	}
	m := &Model{Info: infoOf(raw.Metadata), Network: network}
	m.Lowest, m.Highest = raw.Tensors[lowestInputs].Values, raw.Tensors[highestInputs].Values
	if n := network.Inputs(); len(m.Lowest) != len(m.Highest) || len(m.Lowest) != 0 && len(m.Lowest) != n {
		return nil, fmt.Errorf("want %s and %s with %d values each or none, found %d and %d",
			lowestInputs, highestInputs, n, len(m.Lowest), len(m.Highest))
	}
	return m, nil
}

func infoOf(metadata map[string]string) Info {
	return Info{
		Name: metadata[nameKey], Schema: metadata[schemaKey], SchemaHash: metadata[schemaHashKey],
		TrainedOn: metadata[trainedOnKey], Seeds: metadata[seedsKey], Gates: metadata[gatesKey], Typical: metadata[typicalKey],
	}
}

// check evaluates the golden inputs. A damaged weight, a file of another architecture's making and a fault in a kernel
// all show here.
func (g *Golden) check(n *Network) error {
	rows := len(g.Outputs)
	if rows == 0 || len(g.Inputs) != rows*n.Inputs() {
		return fmt.Errorf("want golden inputs and outputs with %d and 1 values a row, found %d and %d values", n.Inputs(), len(g.Inputs), rows)
	}
	var s Scratch
	for i, got := range n.Forward(make([]float32, rows), &s, g.Inputs) {
		want := float64(g.Outputs[i])
		// Written so that a NaN on either side is a failure.
		if !(math.Abs(float64(got)-want) <= goldenTolerance*(1+math.Abs(want))) {
			return fmt.Errorf("golden row %d: want output %v, got %v: the file is damaged or was made by other code", i, want, got)
		}
	}
	return nil
}

// Encode writes a model's file, after having checked that the network gives the golden outputs. Equal files give equal
// bytes.
func (f *File) Encode() ([]byte, error) {
	network, err := NewNetwork(f.Layers)
	if err != nil {
		return nil, err
	}
	if f.SchemaHash == "" {
		return nil, errors.New("want the hash of the feature schema, found none")
	}
	if err := f.Golden.check(network); err != nil {
		return nil, err
	}
	raw := &safetensors.File{
		Metadata: map[string]string{
			formatKey: Format, architectureKey: architecture(f.Layers), nameKey: f.Name, schemaKey: f.Schema,
			schemaHashKey: f.SchemaHash, trainedOnKey: f.TrainedOn, seedsKey: f.Seeds, gatesKey: f.Gates, typicalKey: f.Typical,
		},
		Tensors: map[string]safetensors.Tensor{
			goldenInputs:  {Shape: []int{len(f.Golden.Outputs), network.Inputs()}, Values: f.Golden.Inputs},
			goldenOutputs: {Shape: []int{len(f.Golden.Outputs)}, Values: f.Golden.Outputs},
		},
	}
	addLayers(raw.Tensors, f.Layers)
	if len(f.Lowest) > 0 {
		raw.Tensors[lowestInputs] = safetensors.Tensor{Shape: []int{len(f.Lowest)}, Values: f.Lowest}
		raw.Tensors[highestInputs] = safetensors.Tensor{Shape: []int{len(f.Highest)}, Values: f.Highest}
	}
	return raw.Encode()
}

// architecture is the widths of the layers, such as "64-64-32-1".
func architecture(layers []Layer) string {
	var text strings.Builder
	text.WriteString(strconv.Itoa(layers[0].Inputs))
	for i := range layers {
		text.WriteString("-" + strconv.Itoa(layers[i].Outputs))
	}
	return text.String()
}
