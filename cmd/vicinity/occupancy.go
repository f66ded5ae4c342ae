package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
)

const (
	// Formats of the predecessor's plots.
	nodesFile, podTimesFile = "nodes.json", "pod-times.json"
	// predecessorIntervals is how many intervals its plots have when nothing is said.
	predecessorIntervals = 35
	// mostStays is how many pods the service tells of at once.
	mostStays = "20000"
)

type occupancyOptions struct {
	service   serviceOptions
	all       bool
	last      time.Duration
	intervals int
	title     string
	output    string
}

func newOccupancyCommand() *cobra.Command {
	o := &occupancyOptions{}
	cmd := &cobra.Command{
		Use:   "occupancy",
		Short: "Show how many pods were on each node over time, also as files for scheduler-sniffer's plots",
		Long: "Show how many pods were on each node over time, from the service vicinity-sniffer.\n\n" + serviceHelp + "\n\n" +
			"With -o nodes.json and -o pod-times.json it writes what scheduler-sniffer's convert.py writes. As there, only pods whose\n" +
			"start and end are known count, in the intervals that they were on their node throughout.",
		Example: "  vicinity occupancy --last 15m\n" +
			"  vicinity occupancy --last 1h -o nodes.json > nodes.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), time.Now(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.service.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "count the pods of all namespaces")
	flags.DurationVar(&o.last, "last", 15*time.Minute, "how far to look back")
	flags.IntVar(&o.intervals, "intervals", 0, "how many intervals (default 12, and "+strconv.Itoa(predecessorIntervals)+" for nodes.json)")
	flags.StringVar(&o.title, "title", "occupancy", "title in nodes.json")
	flags.StringVarP(&o.output, "output", "o", "table", "table, json, nodes.json or pod-times.json")
	mustComplete(cmd, "output", "table", "json", nodesFile, podTimesFile)
	return cmd
}

func (o *occupancyOptions) validate() error {
	if o.intervals < 0 || o.intervals > 500 {
		return fmt.Errorf("--intervals: want a number from 1 to 500, found %d", o.intervals)
	}
	if o.last <= 0 {
		return fmt.Errorf("--last: want a duration above zero, found %s", o.last)
	}
	if o.all && o.service.connection.namespace != "" {
		return errors.New("--namespace and --all-namespaces exclude each other")
	}
	return known("--output", []string{o.output}, []string{"table", "json", nodesFile, podTimesFile})
}

func (o *occupancyOptions) run(ctx context.Context, now time.Time, out, errOut io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	service, err := o.service.connect(ctx)
	if err != nil {
		return err
	}
	defer service.close()
	parameters := url.Values{"since": {now.Add(-o.last).UTC().Format(time.RFC3339Nano)}, "until": {now.UTC().Format(time.RFC3339Nano)}}
	if !o.all {
		parameters.Set("namespace", service.namespace)
	}
	if o.output == nodesFile || o.output == podTimesFile {
		return o.files(ctx, service, parameters, out, errOut)
	}
	intervals := o.intervals
	if intervals == 0 {
		intervals = 12
	}
	parameters.Set("intervals", strconv.Itoa(intervals))
	var occupancy api.Occupancy
	if err := service.get(ctx, "occupancy", parameters, &occupancy); err != nil {
		return err
	}
	if o.output == "json" {
		return writeJSON(out, occupancy)
	}
	return writeOccupancy(out, &occupancy)
}

// writeOccupancy writes a row a node and a column an interval, headed by when it begins.
func writeOccupancy(out io.Writer, o *api.Occupancy) error {
	if len(o.Nodes) == 0 {
		fmt.Fprintln(out, "No node is known in this span.")
		return nil
	}
	counts := make([][]int, len(o.Nodes))
	for i := range counts {
		counts[i] = make([]int, o.Intervals)
	}
	for _, cell := range o.Cells {
		if cell[0] < len(counts) && cell[1] < o.Intervals {
			counts[cell[0]][cell[1]] = cell[2]
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	width := o.Until.Sub(o.Since) / time.Duration(max(o.Intervals, 1))
	head := []string{"NODE"}
	for i := range o.Intervals {
		head = append(head, o.Since.Add(time.Duration(i)*width).Local().Format("15:04:05"))
	}
	fmt.Fprintln(table, strings.Join(head, "\t"))
	for i, node := range o.Nodes {
		row := []string{clean(node)}
		for _, pods := range counts[i] {
			if pods == 0 {
				row = append(row, ".")
				continue
			}
			row = append(row, strconv.Itoa(pods))
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// files writes what the predecessor's plots are made of.
func (o *occupancyOptions) files(ctx context.Context, service *service, parameters url.Values, out, errOut io.Writer) error {
	parameters.Set("limit", mostStays)
	var stays api.PodList
	if err := service.get(ctx, "stays", parameters, &stays); err != nil {
		return err
	}
	if stays.Truncated {
		fmt.Fprintf(errOut, "warning: there were more than %s pods; those that were bound first are in the file\n", mostStays)
	}
	if o.output == podTimesFile {
		return writeJSON(out, podTimes(stays.Items))
	}
	intervals := o.intervals
	if intervals == 0 {
		intervals = predecessorIntervals
	}
	return writeJSON(out, nodePlots(stays.Items, o.title, intervals))
}
