package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/topology"
)

func newSimulateTopologyCommand() *cobra.Command {
	var dataDir string
	options := topology.Options{}
	cmd := &cobra.Command{
		Use:   "topology",
		Short: "Write copies of node lists with racks and servers",
		Long: "Write copies of the manifests of workload folders (openb_pod_list_*), whose nodes have the labels rack and server, in\n" +
			"the order of the files, and the topology labels that schedulers know. Copies lie beside their originals and end with\n" +
			topology.Suffix + ". Running it again changes nothing, and simulate reads the copy in place of its original.",
		Example: "  vicinity simulate topology --data-dir ./data --servers-per-rack 4\n\n" +
			"  # Pods for another scheduler, too\n" +
			"  vicinity simulate topology --data-dir ./data --scheduler-name vicinity-scheduler",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.Validate(); err != nil {
				return inputError{err}
			}
			err := options.Write(cmd.Context(), dataDir, func(w topology.Written) {
				state := ""
				if w.Unchanged {
					state = " (unchanged)"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d nodes%s\n", shorten(w.Path), w.Nodes, state)
			})
			if err != nil {
				return asInput(err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dataDir, "data-dir", "data", "folder with the workload folders, or a workload folder itself")
	flags.IntVar(&options.ServersPerRack, "servers-per-rack", 4, "nodes in a rack")
	flags.IntVar(&options.RacksPerZone, "racks-per-zone", 16, "racks in a zone")
	flags.StringVar(&options.SchedulerName, "scheduler-name", "", "scheduler of all pods; without it pods are copied as they are")
	if err := cmd.MarkFlagDirname("data-dir"); err != nil {
		panic(err) // the flag was added above
	}
	return cmd
}
