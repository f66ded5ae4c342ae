package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

type traceDiffOptions struct{ namespace, output string }

func newTraceDiffCommand() *cobra.Command {
	o := &traceDiffOptions{}
	cmd := &cobra.Command{
		Use:   "diff FROM TO",
		Short: "Compare the decisions of two runs of one workload, such as before and after a change of the configuration",
		Long: "Compare the decisions of two runs of one workload: which pods went elsewhere, how long pods were pending, how evenly\n" +
			"nodes were used, how many pods were preempted. Pods are matched by namespace and name.",
		Example: "  vicinity trace diff before.jsonl after.jsonl",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "only pods of this namespace")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json")
	mustComplete(cmd, "output", "json")
	return cmd
}

func (o *traceDiffOptions) run(ctx context.Context, files []string, out, errOut io.Writer) error {
	if o.output != "" && o.output != "json" {
		return fmt.Errorf("want --output json or none, found %q", o.output)
	}
	var runs [2]*trace.Run
	for i, file := range files {
		var err error
		if runs[i], err = readRun(ctx, recordSource{file: file, namespace: o.namespace}, errOut); err != nil {
			return err
		}
	}
	difference := trace.Compare(runs[0], runs[1])
	if o.output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(difference)
	}
	return printDifference(out, &difference)
}

func readRun(ctx context.Context, source recordSource, errOut io.Writer) (*trace.Run, error) {
	in, err := source.open(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	run := trace.NewRun()
	err = source.each(in, errOut, func(r *trace.Record) error {
		run.Add(r)
		return nil
	})
	return run, err
}

func printDifference(out io.Writer, d *trace.Difference) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tFROM\tTO")
	for _, row := range []struct {
		name     string
		from, to any
	}{
		{"pods", d.From.Pods, d.To.Pods},
		{"bound", d.From.Bound, d.To.Bound},
		{"pending p50", d.From.P50.Round(time.Microsecond), d.To.P50.Round(time.Microsecond)},
		{"pending p99", d.From.P99.Round(time.Microsecond), d.To.P99.Round(time.Microsecond)},
		{"nodes in use", d.From.Nodes, d.To.Nodes},
		{"pods on the fullest", d.From.MostPods, d.To.MostPods},
		{"preempted", d.From.Victims, d.To.Victims},
	} {
		fmt.Fprintf(w, "%s\t%v\t%v\n", row.name, row.from, row.to)
	}
	fmt.Fprintf(w, "\n%d pods are on the same node, %d are not\n", d.Same, len(d.Changes))
	for _, c := range d.Changes {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Pod, where(c.From), where(c.To))
	}
	return w.Flush()
}

func where(p *trace.Placement) string {
	switch {
	case p == nil:
		return "(not there)"
	case p.Node == "":
		return "(pending)"
	}
	return p.Node
}
