package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/openb"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
)

func newSimulateGenerateCommand() *cobra.Command {
	var (
		folder string
		scale  float64
		seed   uint64
	)
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write a cluster and a workload with the shape of the published GPU trace",
		Long: "Write nodes.csv and pods.csv into a folder: 1,213 nodes with 6,212 GPUs and 8,152 pods, in the published trace's format\n" +
			"and with its mix of nodes, requests and run times, none of which is taken from it. The same seed writes the same.",
		Example: "  vicinity simulate generate --out trace --seed 1\n" +
			"  vicinity simulate --nodes trace/nodes.csv --pods trace/pods.csv --policy FGD --tune 1.3 --seed 42 --shuffle\n\n" +
			"  # A tenth of it, with the times at which pods arrive and leave\n" +
			"  vicinity simulate generate --out small --scale 0.1\n" +
			"  vicinity simulate --nodes small/nodes.csv --pods small/pods.csv --policy BestFit --times --retry",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, pods, err := workload.Published().Generate(scale, seed)
			if err != nil {
				return badInputf("--scale: %w", err)
			}
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			err = writeTraceFile(filepath.Join(folder, "nodes.csv"), func(w io.Writer) error { return openb.WriteNodes(w, cluster.Nodes) })
			if err != nil {
				return err
			}
			err = writeTraceFile(filepath.Join(folder, "pods.csv"), func(w io.Writer) error { return openb.WritePods(w, pods) })
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d nodes, %d GPUs, %d pods\n", folder, len(cluster.Nodes), cluster.TotalGPUs(), len(pods))
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&folder, "out", "trace", "folder to write to; it is made when it does not exist")
	flags.Float64Var(&scale, "scale", 1, "number of nodes and pods, as a part of the published trace's")
	flags.Uint64Var(&seed, "seed", 42, "the same seed writes the same files")
	if err := cmd.MarkFlagDirname("out"); err != nil {
		panic(err) // the flag was added above
	}
	return cmd
}

// writeTraceFile writes a file as a whole.
func writeTraceFile(path string, table func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	if err := table(file); err != nil {
		_ = file.Close() // the first error is the one to tell
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Close()
}
