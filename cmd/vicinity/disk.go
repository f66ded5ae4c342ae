package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

type diskOptions struct {
	connection connectionOptions
	// args are those of DiskIO, as far as they decide what is shown.
	args               configv1.DiskIOArgs
	schedulerNamespace string
	output             string
}

func newDiskCommand() *cobra.Command {
	var o diskOptions
	// The scheduler's own defaults, so that what is shown is what it sees.
	configv1.SetDefaults_DiskIOArgs(&o.args)
	cmd := &cobra.Command{
		Use:     "disk [NODE...]",
		Aliases: []string{"disks"},
		Short:   "Show what the disks of nodes can do, what pods ask of them, what was measured, and what is left",
		Long: "Show what the disks of nodes can do, what pods ask of them, what was measured, and what is left for other pods, as the\n" +
			"scheduler's plugin DiskIO counts it. The cluster is only read.\n\n" +
			"Bandwidths are READ/WRITE/TOTAL in bytes per second at the block size that the disk was measured at; IOPS are what is\n" +
			"free of what the disk can do, reading and writing. REQUESTED is what the pods on the node ask for together, and\n" +
			"MEASURED what the last report says is free; AGE is the report's, and one that is stale does not count. FREE is what a\n" +
			"pod may still ask for. Pods without an annotation are charged a minimum. -o wide lists the pods, and whether\n" +
			"the report already contains what they do.\n\n" +
			"Requests are turned into what they take by the models in ConfigMap normalization-func, as in the scheduler; MODEL says\n" +
			"Identity for a disk without one, which is charged what pods ask for. Arguments of DiskIO that differ from the defaults\n" +
			"must be given as flags. What CacheAware expects pods to fetch (fillDuration) is known to the scheduler only.",
		Example: "  # All disks that are described\n" +
			"  vicinity disk\n\n" +
			"  # The pods on the disks of two nodes, and what each takes\n" +
			"  vicinity disk node-01 node-02 -o wide\n\n" +
			"  # The disks with less than 100 MiB/s of reading left\n" +
			"  vicinity disk -o json | jq -r '.items[] | .node as $n | .disks[] |\n" +
			"    select(.free.readBytesPerSecond < 104857600) | \"\\($n) \\(.id)\"'",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return o.completeNodes(cmd.Context(), args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *diskOptions) addFlags(cmd *cobra.Command) {
	o.connection.addClusterFlags(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&o.args.StaleAfter.Duration, "stale-after", o.args.StaleAfter.Duration,
		"age beyond which a report no longer counts, as in DiskIO's arguments")
	flags.Int64Var(&o.args.BestEffortMinimum, "best-effort-minimum", o.args.BestEffortMinimum,
		"bytes per second in each direction that a pod without an annotation is charged, as in DiskIO's arguments")
	flags.StringSliceVar(&o.args.NSWhiteList, "ns-white-list", o.args.NSWhiteList,
		"namespaces whose pods are charged nothing, as in DiskIO's arguments")
	flags.StringVar(&o.args.DiskIOModelConfig, "disk-io-model-config", o.args.DiskIOModelConfig,
		"file or folder with models of disks, as in DiskIO's arguments")
	flags.StringVar(&o.schedulerNamespace, "scheduler-namespace", "vicinity-system",
		"the scheduler's namespace, in which ConfigMap normalization-func lists models of disks")
	flags.StringVarP(&o.output, "output", "o", "", "wide (a row per pod), json or yaml")
	mustComplete(cmd, "output", "wide", "json", "yaml")
}

func (o *diskOptions) validate() error {
	var errs []error
	if o.output != "" {
		errs = append(errs, known("--output", []string{o.output}, []string{"wide", "json", "yaml"}))
	}
	if o.schedulerNamespace == "" {
		errs = append(errs, errors.New("--scheduler-namespace: want the name of a namespace, found none"))
	}
	if err := configv1.ValidateDiskIOArgs(field.NewPath("arguments"), &o.args); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *diskOptions) run(ctx context.Context, names []string, out, errOut io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	config, _, err := o.connection.load()
	if err != nil {
		return err
	}
	cluster, err := readDisks(ctx, config, o, names, errOut)
	if err != nil {
		return err
	}
	nodes, missing := selectNodes(cluster.disks.DiskNodes(), names)
	if err := writeDisks(out, o.output, describeDisks(cluster, nodes, time.Now(), &o.args)); err != nil {
		return err
	}
	for _, line := range append(cluster.warnings, strangers(nodes, cluster.nodes)...) {
		fmt.Fprintf(errOut, "warning: %s\n", line)
	}
	if len(nodes) == 0 && len(names) == 0 {
		fmt.Fprintln(errOut, "No disks found: no NodeDiskDevice describes those of a node"+cluster.lacks()+".")
	}
	if len(missing) > 0 {
		return errors.New("no NodeDiskDevice describes the disks of node " + strings.Join(missing, " or ") + cluster.lacks())
	}
	return nil
}

// strangers warns of nodes with disks that the cluster has not; existing is nil when that is not known.
func strangers(described []string, existing map[string]bool) (warnings []string) {
	if existing == nil {
		return nil
	}
	for _, name := range described {
		if !existing[name] {
			warnings = append(warnings, fmt.Sprintf("this cluster has no node %q; a NodeDiskDevice describes its disks all the same", name))
		}
	}
	return warnings
}

// selectNodes returns the nodes to show, which are all when no names are given, and those of the names, quoted, whose
// disks nobody describes.
func selectNodes(described, names []string) (nodes, missing []string) {
	if len(names) == 0 {
		return described, nil
	}
	for _, name := range names {
		quoted := strconv.Quote(name)
		switch {
		case slices.Contains(described, name):
			if !slices.Contains(nodes, name) {
				nodes = append(nodes, name)
			}
		case !slices.Contains(missing, quoted):
			missing = append(missing, quoted)
		}
	}
	slices.Sort(nodes)
	return nodes, missing
}

// completeNodes offers the nodes with disks to the shell; nothing when the cluster does not answer soon.
func (o *diskOptions) completeNodes(ctx context.Context, given []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	config, _, err := o.connection.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cluster, err := readDescriptions(ctx, config, io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	nodes := slices.DeleteFunc(cluster.disks.DiskNodes(), func(name string) bool { return slices.Contains(given, name) })
	return nodes, cobra.ShellCompDirectiveNoFileComp
}
