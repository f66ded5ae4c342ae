package mlp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

const weightSuffix, biasSuffix = ".weight", ".bias"

// LayersOf reads layers as PyTorch names them in the state dictionary of an nn.Sequential, or of a module that holds one:
// "<prefix><number>.weight" and "<prefix><number>.bias", where numbers rise from layer to layer and may leave out those
// of activations. Other tensors are left out.
func LayersOf(file *safetensors.File) ([]Layer, error) {
	byNumber, prefix := map[int]Layer{}, ""
	for _, name := range slices.Sorted(maps.Keys(file.Tensors)) {
		stem, isWeight := strings.CutSuffix(name, weightSuffix)
		if !isWeight {
			continue
		}
		digits := strings.LastIndexFunc(stem, func(r rune) bool { return r < '0' || r > '9' }) + 1
		number, err := strconv.Atoi(stem[digits:])
		if err != nil {
			return nil, fmt.Errorf("tensor %q: want a layer's number before %s", name, weightSuffix)
		}
		if len(byNumber) > 0 && stem[:digits] != prefix {
			return nil, fmt.Errorf("tensor %q: want all layers in one sequence, found %q and %q", name, prefix, stem[:digits])
		}
		prefix = stem[:digits]
		layer, err := layerOf(file, stem)
		if err != nil {
			return nil, err
		}
		byNumber[number] = layer
	}
	layers := make([]Layer, 0, len(byNumber))
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		layers = append(layers, byNumber[number])
	}
	return layers, nil
}

func layerOf(file *safetensors.File, stem string) (Layer, error) {
	weight, bias := file.Tensors[stem+weightSuffix], file.Tensors[stem+biasSuffix]
	if len(weight.Shape) != 2 || len(bias.Shape) != 1 {
		return Layer{}, fmt.Errorf("layer %q: want a weight with two dimensions and a bias with one, found shapes %v and %v",
			stem, weight.Shape, bias.Shape)
	}
	return Layer{Outputs: weight.Shape[0], Inputs: weight.Shape[1], Weights: weight.Values, Bias: bias.Values}, nil
}

// addLayers is the opposite of LayersOf.
func addLayers(tensors map[string]safetensors.Tensor, layers []Layer) {
	for i := range layers {
		l, stem := &layers[i], layerPrefix+strconv.Itoa(i)
		tensors[stem+weightSuffix] = safetensors.Tensor{Shape: []int{l.Outputs, l.Inputs}, Values: l.Weights}
		tensors[stem+biasSuffix] = safetensors.Tensor{Shape: []int{l.Outputs}, Values: l.Bias}
	}
}
