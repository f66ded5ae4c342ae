package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

func newModelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Look at, verify and import models of plugin MLPScore",
		Long: "Look at, verify and import models of plugin MLPScore.\n\n" +
			"A model is a safetensors file: the network's layers, the hash of the features it reads, where it comes from, and golden\n" +
			"inputs with the outputs it must give. The scheduler refuses a file that `vicinity model verify` refuses.",
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newModelInspectCommand(), newModelVerifyCommand(), newModelImportCommand(), newModelFeaturesCommand())
	return cmd
}

func newModelInspectCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a model file holds, whether it can be used or not",
		Example: "  vicinity model inspect model.safetensors\n\n" +
			"  # The range of each feature in training\n  vicinity model inspect model.safetensors -o json | jq .ranges",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("output", output, "", "json", "yaml"); err != nil {
				return err
			}
			return inspectModel(cmd.OutOrStdout(), args[0], output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml; default: a table")
	mustComplete(cmd, "output", "json", "yaml")
	return cmd
}

func newModelVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify FILE...",
		Short:   "Check model files as the scheduler does; exit with 1 if it would refuse one",
		Example: "  vicinity model verify model.safetensors",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, file := range args {
				data, err := os.ReadFile(file)
				if err != nil {
					return fmt.Errorf("reading the model: %w", err)
				}
				model, err := feature.DecodeModel(data)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: ok, model %q\n", file, model.Name)
			}
			return nil
		},
	}
}

func newModelFeaturesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "features",
		Short: "List the features that models read, in order, with their scaling",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
			fmt.Fprintf(table, "schema %s, hash %s; input %d + i is 1 when feature i is known\n",
				feature.SchemaName(), feature.Hash(), feature.Count)
			for i, f := range feature.Schema() {
				fmt.Fprintf(table, "%d\t%s\t%s\n", i, f.Name, f.Means)
			}
			return table.Flush()
		},
	}
}

// modelDescription is what `model inspect` shows. Its JSON form is for programs.
type modelDescription struct {
	Metadata map[string]string `json:"metadata"`
	Tensors  []tensorShape     `json:"tensors"`
	// Ranges are the lowest and highest value of each feature in training; none if the file does not say.
	Ranges map[string][2]float32 `json:"ranges,omitempty"`
	// Usable is "ok", or why the scheduler would refuse the file.
	Usable string `json:"usable"`
}

type tensorShape struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

func inspectModel(out io.Writer, file, output string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the model: %w", err)
	}
	raw, err := safetensors.Decode(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	d := describeModel(raw, data)
	if output != "" {
		return writeObject(out, output, d)
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, key := range slices.Sorted(maps.Keys(d.Metadata)) {
		fmt.Fprintf(table, "%s\t%s\n", key, d.Metadata[key])
	}
	for _, t := range d.Tensors {
		fmt.Fprintf(table, "%s\t%s\n", t.Name, strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Shape), " ", " x "), "[]"))
	}
	fmt.Fprintf(table, "usable\t%s\n", d.Usable)
	return table.Flush()
}

func describeModel(raw *safetensors.File, data []byte) *modelDescription {
	d := &modelDescription{Metadata: raw.Metadata, Usable: "ok"}
	for _, name := range slices.Sorted(maps.Keys(raw.Tensors)) {
		d.Tensors = append(d.Tensors, tensorShape{Name: name, Shape: raw.Tensors[name].Shape})
	}
	model, err := feature.DecodeModel(data)
	if err != nil {
		d.Usable = err.Error()
		return d
	}
	if len(model.Lowest) > 0 {
		d.Ranges = map[string][2]float32{}
		for i, f := range feature.Schema() {
			d.Ranges[f.Name] = [2]float32{model.Lowest[i], model.Highest[i]}
		}
	}
	return d
}
