package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// badInputStatus is the exit status for input that cannot be used, so that scripts can tell it from a failed run.
const badInputStatus = 2

// inputError is an error in what the user gave: a flag or a file.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

func badInputf(format string, args ...any) error { return inputError{fmt.Errorf(format, args...)} }

// exitStatus is what the process ends with after an error.
func exitStatus(err error) int {
	var input inputError
	var files *faults.Error
	if errors.As(err, &input) || errors.As(err, &files) {
		return badInputStatus
	}
	return 1
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate [CONFIG...]",
		Short: "Play a workload on a simulated cluster, under any scheduler configuration",
		Long: "Play a workload on a simulated cluster and show where its pods go. Nothing is written to any cluster.\n\n" +
			"The cluster and the workload come from a configuration of the predecessor (-f), from files or folders of manifests\n" +
			"or CSV (--nodes, --pods), or from a live cluster, which is only read (--kubeconfig). The scheduler comes from a\n" +
			"KubeSchedulerConfiguration (-s) or is one of the native policies (--policy).\n\n" +
			"Policies that have a native form are simulated natively, some ten thousand decisions a second; all others by the\n" +
			"real scheduling framework, in this process and without an API server.\n\n" +
			"Exit status: 0 when the run has ended, pods without a node or not; 1 when it failed; 2 for bad input.",
		Example: "  # The published experiment: openb's default trace, 130 % demand, seed 42, fragmentation gradient descent\n" +
			"  vicinity simulate --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv --policy FGD \\\n" +
			"      --tune 1.3 --seed 42 --shuffle\n\n" +
			"  # The predecessor's files, with every placement as JSON\n" +
			"  vicinity simulate -f cluster-config.yaml -s scheduler-config.yaml -o json --placements\n\n" +
			"  # Two configurations on the same workload, side by side on one page\n" +
			"  vicinity simulate -f cluster-config.yaml --compare fgd.yaml bestfit.yaml --html report.html\n\n" +
			"  # The pods of a cluster as they would be placed by another scheduler\n" +
			"  vicinity simulate --kubeconfig ~/.kube/config -s scheduler-config.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), cmd, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return yamlFiles()
		},
	}
	o.addFlags(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badInputf("%w; see %s --help", err, cmd.CommandPath())
	})
	cmd.AddCommand(newSimulateApplyCommand(), newSimulateTopologyCommand(), newSimulateSweepCommand(),
		newSimulateReplayCommand(), newSimulateCapacityCommand(), newSimulateGenerateCommand())
	return cmd
}

// newSimulateApplyCommand is the predecessor's `simon apply`, with its flags and its words on stdout.
func newSimulateApplyCommand() *cobra.Command {
	o := simulateOptions{apply: true}
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Run as the predecessor's `simon apply` does",
		Long: "Run as the predecessor's `simon apply` does: with its flags, its files and its closing words.\n\n" +
			"It never writes to a cluster, and -e gpu is always on. MaxCPU and MaxMemory in the environment, from 0 to 100, are the\n" +
			"highest occupancy in percent that still counts as success.",
		Example: "  vicinity simulate apply --extended-resources \"gpu\" \\\n" +
			"      -f manifests/examples/simulate/test-cluster-config.yaml \\\n" +
			"      -s manifests/examples/simulate/test-scheduler-config.yaml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), cmd, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// yamlFiles lets the shell complete names of configuration files.
func yamlFiles() ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// known resources of -e.
func extendedResources() []string { return []string{"gpu", "open-local"} }

// warnings writes what readers found, each on a line of its own.
func writeWarnings(errOut io.Writer, warnings []string) {
	for _, text := range warnings {
		fmt.Fprintf(errOut, "warning: %s\n", text)
	}
}

// oneOf checks a flag's value.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return badInputf("--%s: want one of %s, found %q", flag, strings.Join(allowed, ", "), value)
}

// run plays one configuration, or two to be compared.
func (o *simulateOptions) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if err := o.validate(cmd, args); err != nil {
		return err
	}
	list := &faults.List{}
	plan, err := o.plan(ctx, cmd, list)
	writeWarnings(cmd.ErrOrStderr(), list.Warnings())
	if err != nil {
		return err
	}
	return plan.play(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
}
