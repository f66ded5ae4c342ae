package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/training"
)

// Seeds of workloads. Those of the gate lie outside those of training by far more than a training can use.
const (
	firstTrainingSeed           = 1_000_000
	firstGateSeed, lastGateSeed = 48, 51
)

type trainOptions struct {
	nodes           string
	pods, heldOut   []string
	ratio           float64
	generations     int
	seed            uint64
	cores           int
	out, checkpoint string
	name, report    string
	generated       int
	isSmoke         bool
}

func newTrainCommand() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train the network of plugin MLPScore in the simulator, and judge it",
		Long: "Train the network of plugin MLPScore in the simulator, and judge it.\n\n" +
			"The search starts with a network that decides as fragmentation gradient descent (FGD) does, and changes it so that more\n" +
			"of the GPUs are allocated in the end. Each generation plays 16 networks on two workloads: the first of --pods, and one\n" +
			"of the others in turn. Then the network and FGD play all workloads with seeds 48 to 51, which training does not use,\n" +
			"and those of --held-out, which it has not seen at all.\n\n" +
			"The model is written when it passes the gate: more GPUs allocated than by FGD on the first workload and on each that\n" +
			"was held out, by more than two standard deviations of the paired difference, and nowhere less by more than 0.2 points.\n\n" +
			"The same seed gives the same weights. A training that was stopped goes on from its checkpoint.",
		Example: "  # See that it works, in less than two minutes and without any data\n" +
			"  vicinity train --smoke\n\n" +
			"  # The command of the committed model stands in docs/mlp.md; this is a part of it\n" +
			"  vicinity train --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv,openb_pod_list_cpu100.csv \\\n" +
			"      --held-out openb_pod_list_gpuspec25.csv --generations 200 --checkpoint train.json -o model.safetensors\n\n" +
			"  # Go on for another 100 generations\n" +
			"  vicinity train ... --generations 300 --checkpoint train.json -o model.safetensors",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *trainOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.isSmoke, "smoke", false, "train for a minute on small generated workloads, and only show what that brings")
	flags.IntVar(&o.generated, "generated", 0, "train also on so many generated workloads with the published trace's shape and other draws")
	flags.StringVar(&o.nodes, "nodes", "", "file or folder with the cluster's nodes: manifests, or CSV of the openb trace")
	flags.StringSliceVar(&o.pods, "pods", nil, "files or folders with pods, one workload each; the first counts most")
	flags.StringSliceVar(&o.heldOut, "held-out", nil, "workloads for the gate only")
	flags.Float64Var(&o.ratio, "tune", 1.3, "GPU demand of each workload, in parts of the cluster's capacity")
	flags.IntVar(&o.generations, "generations", 200, "generations in all, those before the checkpoint included")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of everything that is drawn")
	flags.IntVar(&o.cores, "cores", runtime.GOMAXPROCS(0), "runs that are played at a time")
	flags.StringVarP(&o.out, "output", "o", "model.safetensors", "file for the model")
	flags.StringVar(&o.checkpoint, "checkpoint", "", "file that the state of the search is kept in, and read from when it exists")
	flags.StringVar(&o.name, "name", "default", "what the model is called in logs and records")
	flags.StringVar(&o.report, "report", "", "Markdown file for the result of the gate; between the lines "+reportBegin+" and "+reportEnd+
		" if it has them")
}

// validate checks what flags say.
func (o *trainOptions) validate() error {
	var errs []error
	if o.ratio <= 0 || o.generations < 0 || o.cores < 1 || o.generated < 0 {
		errs = append(errs, badInputf("want --tune above 0, --generations and --generated of 0 or more and --cores of 1 or more, "+
			"found %v, %d, %d and %d",
			o.ratio, o.generations, o.generated, o.cores))
	}
	if !o.isSmoke && len(o.pods)+o.generated == 0 {
		errs = append(errs, badInputf("want workloads: --nodes and --pods, --generated, or --smoke for a try"))
	}
	if !o.isSmoke && len(o.pods)+len(o.heldOut) > 0 && o.nodes == "" {
		errs = append(errs, badInputf("--nodes: want a file or folder with the cluster of --pods, found none"))
	}
	return errors.Join(errs...)
}

func (o *trainOptions) run(ctx context.Context, out, errOut io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.isSmoke {
		return o.smoke(ctx, out, errOut)
	}
	workloads, err := o.workloads(ctx, errOut)
	if err != nil {
		return err
	}
	resume, err := readCheckpoint(o.checkpoint)
	if err != nil {
		return err
	}
	options := training.Options{
		Generations: o.generations, Seed: o.seed, FirstSeed: firstTrainingSeed, Cores: o.cores, Resume: resume,
		Done: func(p training.Progress) error {
			fmt.Fprintf(errOut, "generation %d of %d: %.2f%% of GPUs allocated by the mean, %.2f%% by the best (%s)\n",
				p.Strategy.Generation, o.generations, p.Mean, p.Best, strings.Join(p.Workloads, ", "))
			return writeCheckpoint(o.checkpoint, p.Strategy)
		},
	}
	layers, strategy, err := training.Train(ctx, workloads, options)
	if err != nil {
		return err
	}
	options.Seed = strategy.Seed
	gate, err := o.judge(ctx, layers, workloads, out)
	if err != nil {
		return err
	}
	if o.report != "" {
		if err := writeReport(o.report, gate); err != nil {
			return err
		}
	}
	if !training.Passes(gate) {
		return errors.New("the network does not pass the gate, so no model was written: train it for more generations")
	}
	data, err := training.Pack(ctx, o.name, layers, workloads, options, gate)
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.out, data, 0o644); err != nil { //nolint:gosec // a model is no secret
		return fmt.Errorf("writing the model: %w", err)
	}
	fmt.Fprintf(out, "wrote %s, %d bytes\n", o.out, len(data))
	return nil
}

// workloads reads each file of pods as a workload of its own.
func (o *trainOptions) workloads(ctx context.Context, errOut io.Writer) ([]training.Workload, error) {
	var workloads []training.Workload
	for _, file := range slices.Concat(o.pods, o.heldOut) {
		list := &faults.List{}
		loaded, err := input.Load(ctx, &input.Source{Nodes: []string{o.nodes}, Pods: []string{file}}, list)
		writeWarnings(errOut, list.Warnings())
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "openb_pod_list_")
		workloads = append(workloads, training.Workload{
			Name: name, Cluster: loaded.Experiment.Cluster, Pods: loaded.Experiment.Pods, Ratio: o.ratio,
			HeldOut: len(workloads) >= len(o.pods),
		})
	}
	made, err := generated(o.generated, 1, o.ratio, firstGenerated, false)
	if err != nil {
		return nil, err
	}
	return slices.Insert(workloads, len(o.pods), made...), nil
}

// judge plays the gate and shows each workload as soon as it is done.
func (o *trainOptions) judge(
	ctx context.Context, layers []mlp.Layer, workloads []training.Workload, out io.Writer,
) ([]training.Comparison, error) {
	network, err := mlp.NewNetwork(layers)
	if err != nil {
		return nil, err
	}
	var seeds []int64
	for seed := int64(firstGateSeed); seed <= lastGateSeed; seed++ {
		seeds = append(seeds, seed)
	}
	fmt.Fprintf(out, "%-16s %-8s %8s %8s %10s %10s\n", "WORKLOAD", "SEEN", "FGD", "NETWORK", "DIFFERENCE", "DEVIATION")
	return training.Judge(ctx, network, workloads, seeds, o.cores, func(c *training.Comparison) {
		fmt.Fprintf(out, "%-16s %-8s %8.2f %8.2f %+10.2f %10.2f\n", c.Workload, seen(c), c.FGD, c.Network, c.Difference, c.Deviation)
	})
}

func seen(c *training.Comparison) string {
	if c.HeldOut {
		return "never"
	}
	return "trained"
}
