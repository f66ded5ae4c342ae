package training

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// goldenRows is how many vectors a file carries with the outputs they must give.
const goldenRows = 16

// Pack makes a model's file of trained layers: it plays each open workload once to see the range of the features, and
// records outputs for vectors drawn from that range.
func Pack(ctx context.Context, name string, trained []mlp.Layer, workloads []Workload, o Options, gate []Comparison) ([]byte, error) {
	network, err := mlp.NewNetwork(trained)
	if err != nil {
		return nil, err
	}
	var seen feature.Range
	var names []string
	for i := range workloads {
		if workloads[i].HeldOut {
			continue
		}
		config := Learned(network)
		config.Seen = &seen
		if _, err := play(ctx, &workloads[i], o.FirstSeed, config); err != nil {
			return nil, err
		}
		names = append(names, workloads[i].Name)
	}
	typical, err := typicalText(workloads)
	if err != nil {
		return nil, err
	}
	file := &mlp.File{
		Info: mlp.Info{
			Name: name, Schema: feature.SchemaName(), SchemaHash: feature.Hash(),
			TrainedOn: strings.Join(names, ","), Gates: gateText(gate), Typical: typical,
			Seeds: fmt.Sprintf("strategy %d, workloads %d to %d", o.Seed, o.FirstSeed, o.FirstSeed+int64(o.Generations)*perGeneration-1),
		},
		Layers: trained, Lowest: seen.Lowest[:], Highest: seen.Highest[:],
	}
	random := rand.New(rand.NewPCG(o.Seed, goldenRows))
	for i := range goldenRows * feature.Inputs {
		low, high := seen.Lowest[i%feature.Inputs], seen.Highest[i%feature.Inputs]
		file.Golden.Inputs = append(file.Golden.Inputs, low+(high-low)*random.Float32())
	}
	file.Golden.Outputs = network.Forward(make([]float32, goldenRows), &mlp.Scratch{}, file.Golden.Inputs)
	return file.Encode()
}

// typicalText are the typical pods of the first workload, which counts most in training.
func typicalText(workloads []Workload) (string, error) {
	classes := make([]gpushare.Class, 0, len(workloads[0].Pods))
	for i := range workloads[0].Pods {
		classes = append(classes, policy.ClassOf(&workloads[0].Pods[i]))
	}
	return feature.FormatTypical(gpushare.Typical(classes, popularity()))
}

// gateText is the gate in a line for a file's metadata.
func gateText(gate []Comparison) string {
	var parts []string
	for i := range gate {
		c := &gate[i]
		parts = append(parts, fmt.Sprintf("%s %+.2f±%.2f", c.Workload, c.Difference, c.Deviation))
	}
	return "percent of GPUs allocated beyond FGD: " + strings.Join(parts, ", ")
}
