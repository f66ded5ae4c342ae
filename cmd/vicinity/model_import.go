package main

import (
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

// importedGoldens is how many golden rows an imported model gets.
const importedGoldens = 16

func newModelImportCommand() *cobra.Command {
	var info mlp.Info
	var out string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a model of a PyTorch state dictionary that was saved as safetensors",
		Long: "Make a model of a PyTorch state dictionary that was saved as safetensors.\n\n" +
			"The file holds the layers of one nn.Sequential of nn.Linear and nn.ReLU, as float32: \"0.weight\", \"0.bias\", \"2.weight\"\n" +
			"and so on; a common prefix is fine. The first layer reads the features that `vicinity model features` lists, in that\n" +
			"order, and the last has one output. Golden outputs are computed here, by this project's code: compare a few of them\n" +
			"with what PyTorch gives before you trust the model.",
		Example: "  # In Python: safetensors.torch.save_file(net.state_dict(), \"net.safetensors\")\n" +
			"  vicinity model import net.safetensors --name mine -o model.safetensors",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			size, err := importModel(args[0], out, info)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s, %d bytes\n", out, size)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "model.safetensors", "file for the model")
	cmd.Flags().StringVar(&info.Name, "name", "imported", "what the model is called in logs and records")
	cmd.Flags().StringVar(&info.TrainedOn, "trained-on", "", "the workloads it was trained on, for people")
	return cmd
}

func importModel(from, to string, info mlp.Info) (size int, err error) {
	data, err := os.ReadFile(from)
	if err != nil {
		return 0, err
	}
	raw, err := safetensors.Decode(data)
	if err != nil {
		return 0, err
	}
	layers, err := mlp.LayersOf(raw)
	if err != nil {
		return 0, err
	}
	network, err := mlp.NewNetwork(layers)
	if err != nil {
		return 0, err
	}
	if network.Inputs() != feature.Inputs || network.Outputs() != 1 {
		return 0, badInputf("want a network with %d inputs and 1 output, found %d and %d", feature.Inputs, network.Inputs(), network.Outputs())
	}
	info.Schema, info.SchemaHash = feature.SchemaName(), feature.Hash()
	file := &mlp.File{Info: info, Layers: layers}
	random := rand.New(rand.NewPCG(1, importedGoldens))
	for range importedGoldens * feature.Inputs {
		file.Golden.Inputs = append(file.Golden.Inputs, random.Float32())
	}
	file.Golden.Outputs = network.Forward(make([]float32, importedGoldens), &mlp.Scratch{}, file.Golden.Inputs)
	if data, err = file.Encode(); err != nil {
		return 0, err
	}
	return len(data), os.WriteFile(to, data, 0o644) //nolint:gosec // a model is no secret
}
