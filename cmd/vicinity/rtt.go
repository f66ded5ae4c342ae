package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

type rttOptions struct {
	connection connectionOptions
	// matrix and metadata are read in place of a cluster.
	matrix, metadata string
	output           string
	heat             bool
	color            string
}

func newRTTCommand() *cobra.Command {
	var o rttOptions
	cmd := &cobra.Command{
		Use:   "rtt [NODE...]",
		Short: "Show the round-trip times between nodes, who measured them, and how old they are",
		Long: "Show the round-trip times between nodes, as the scheduler's plugin EdgeDelay sees them: what agents and Goldpinger\n" +
			"measured, and what was imported. The cluster is only read.\n\n" +
			"A row tells of the paths from one node: to how many others they are known, the shortest, the median and the longest of\n" +
			"their medians, how many are cut, by whom they are known, and how old the newest is. -o wide has a row per path.\n" +
			"--heat draws the matrix, the dark cells being the long ways. With --matrix and --metadata files are shown in place of a\n" +
			"cluster.",
		Example: "  # All nodes\n" +
			"  vicinity rtt\n\n" +
			"  # Every path from two nodes\n" +
			"  vicinity rtt edge-1 edge-2 -o wide\n\n" +
			"  # The matrix as a picture\n" +
			"  vicinity rtt --heat\n\n" +
			"  # Why a pair counts as it does\n" +
			"  vicinity rtt path edge-1 cloud",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.connection.addClusterFlags(cmd)
	o.addFileFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.heat, "heat", false, "draw the matrix of medians")
	flags.StringVar(&o.color, "color", "auto", "whether --heat uses colours: auto (on a terminal), always or never")
	flags.StringVarP(&o.output, "output", "o", "", "wide (a row per path), json or yaml")
	mustComplete(cmd, "output", "wide", "json", "yaml")
	mustComplete(cmd, "color", "auto", "always", "never")
	cmd.AddCommand(newRTTPathCommand(), newRTTClusterCommand(), newRTTImportCommand(), newRTTExportCommand())
	return cmd
}

func (o *rttOptions) addFileFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.matrix, "matrix", "", "a matrix `FILE` of milliseconds to take in place of a cluster")
	cmd.Flags().StringVar(&o.metadata, "metadata", "", "the JSON `FILE` with the names of its rows")
}

func (o *rttOptions) validate() error {
	var errs []error
	if o.output != "" {
		errs = append(errs, known("--output", []string{o.output}, []string{"wide", "json", "yaml"}))
	}
	if o.color != "" {
		errs = append(errs, known("--color", []string{o.color}, []string{"auto", "always", "never"}))
	}
	if (o.matrix == "") != (o.metadata == "") {
		errs = append(errs, errors.New("--matrix and --metadata belong together: one has the numbers, the other the names"))
	}
	if o.heat && o.output != "" {
		errs = append(errs, errors.New("--heat and --output exclude each other"))
	}
	return errors.Join(errs...)
}

func (o *rttOptions) run(ctx context.Context, names []string, out, errOut io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	view, err := o.read(ctx, errOut)
	if err != nil {
		return err
	}
	nodes, err := view.choose(names)
	if err != nil {
		return err
	}
	if o.heat {
		return writeHeat(out, view, nodes, useColor(o.color, out))
	}
	if err := writeRTTs(out, o.output, view.describe(nodes)); err != nil {
		return err
	}
	view.warn(errOut)
	return nil
}

// rttView is the matrix at one moment.
type rttView struct {
	store *delay.Store
	// nodes are those of the cluster or of the files, in order; endpoints what is outside.
	nodes, endpoints []string
	now              time.Time
	warnings         []string
}

func (v *rttView) warn(errOut io.Writer) {
	for _, line := range v.warnings {
		fmt.Fprintf(errOut, "warning: %s\n", line)
	}
	if len(v.nodes) == 0 {
		fmt.Fprintln(errOut, "No nodes found.")
	}
}

// choose returns the nodes that are named, or all.
func (v *rttView) choose(names []string) ([]string, error) {
	if len(names) == 0 {
		return v.nodes, nil
	}
	var missing []string
	for _, name := range names {
		if !slices.Contains(v.nodes, name) {
			missing = append(missing, fmt.Sprintf("%q", name))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("there is no node %s", strings.Join(missing, " or "))
	}
	return names, nil
}

// targetsOf are the places that a path from the node may lead to.
func (v *rttView) targetsOf(node string) []string {
	all := slices.DeleteFunc(slices.Clone(v.nodes), func(other string) bool { return other == node })
	return append(all, v.endpoints...)
}

// best returns the sample that counts between two places, whichever of them measured it.
func (v *rttView) best(from, to string) (delay.Sample, bool) {
	if sample, ok := v.store.Lookup(from, to); ok && sample.Known {
		return sample, true
	}
	sample, ok := v.store.Lookup(to, from)
	return sample, ok && sample.Known
}
