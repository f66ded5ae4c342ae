package scenarios_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"regexp"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/test/scenarios"
)

// updateVariable, when it is set, makes the test write the models instead of comparing them. "make generate" sets it.
const updateVariable = "UPDATE_SCENARIOS"

// TestModelsInScenarios: models in scenario files are those that are made here, for the present feature schema. A model
// stands in a line of its own: "model.safetensors: <base64> # model <name>".
func TestModelsInScenarios(t *testing.T) {
	files, err := fs.Glob(scenarios.FS(), "mlpscore/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(model\.safetensors: )(\S+)( # model (\w+))`)
	found := 0
	for _, file := range files {
		before, err := fs.ReadFile(scenarios.FS(), file)
		if err != nil {
			t.Fatal(err)
		}
		after := pattern.ReplaceAllFunc(before, func(line []byte) []byte {
			found++
			part := pattern.FindSubmatch(line)
			return []byte(string(part[1]) + base64.StdEncoding.EncodeToString(model(t, string(part[4]))) + string(part[3]))
		})
		if string(after) == string(before) {
			continue
		}
		if os.Getenv(updateVariable) == "" {
			t.Errorf("%s holds a model that is not the present one: run \"make generate\"", file)
		} else if err := os.WriteFile(file, after, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("want scenarios with models, found none")
	}
}

// model is a network of one layer that looks at nothing but the CPU that a node has left.
func model(t *testing.T, name string) []byte {
	t.Helper()
	weight, known := map[string]float32{"pack": -1, "spread": 1, "indifferent": 0, "damaged": -1}[name]
	if !known {
		t.Fatalf("there is no model %q", name)
	}
	file := &mlp.File{
		Info:   mlp.Info{Name: name, Schema: feature.SchemaName(), SchemaHash: feature.Hash()},
		Layers: []mlp.Layer{{Inputs: feature.Inputs, Outputs: 1, Weights: make([]float32, feature.Inputs), Bias: []float32{0}}},
		Golden: mlp.Golden{Inputs: make([]float32, feature.Inputs), Outputs: []float32{weight / 2}},
	}
	for i, f := range feature.Schema() {
		if f.Name == "after.cpuFree" {
			file.Layers[0].Weights[i], file.Golden.Inputs[i] = weight, 0.5
		}
	}
	data, err := file.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if name == "damaged" {
		data = data[:len(data)-4]
	}
	return data
}
