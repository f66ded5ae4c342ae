package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracesink"
)

type traceExportOptions struct {
	source recordSource
	format string
	legacy bool
}

func newTraceExportCommand() *cobra.Command {
	o := &traceExportOptions{}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write decisions as JSON lines, as CSV, or as the predecessor's log; and its log as JSON lines",
		Example: "  vicinity trace export --file decisions.jsonl --format csv > decisions.csv\n" +
			"  vicinity trace export --file decisions.jsonl --format sniffer > sniffer.log\n" +
			"  vicinity trace export --file sniffer.log --from-sniffer > events.jsonl",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.addFlags(cmd)
	cmd.Flags().StringVar(&o.format, "format", "jsonl", "jsonl, csv (a row an attempt), or sniffer (lines of scheduler-sniffer's log)")
	cmd.Flags().BoolVar(&o.legacy, "from-sniffer", false, "the file is a log of scheduler-sniffer; its events are written as JSON lines")
	mustComplete(cmd, "format", "jsonl", "csv", "sniffer")
	return cmd
}

func (o *traceExportOptions) run(ctx context.Context, out, errOut io.Writer) error {
	if err := o.source.validate(); err != nil {
		return err
	}
	w, flush := buffered(out)
	write, finish, err := exporter(o.format, w)
	if err != nil {
		return err
	}
	in, err := o.source.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if o.legacy {
		return flush(o.convert(in, w, errOut))
	}
	return flush(errors.Join(o.source.each(in, errOut, write), finish()))
}

// exporter returns what writes a record in the format, and what ends that.
func exporter(format string, out io.Writer) (write func(*trace.Record) error, finish func() error, err error) {
	lines := json.NewEncoder(out)
	nothing := func() error { return nil }
	switch format {
	case "jsonl":
		return func(r *trace.Record) error { return lines.Encode(r) }, nothing, nil
	case "sniffer":
		return func(r *trace.Record) error { return writeLegacy(lines, r) }, nothing, nil
	case "csv":
		table := csv.NewWriter(out)
		if err := table.Write(csvHeader()); err != nil {
			return nil, nil, err
		}
		return func(r *trace.Record) error { return table.Write(csvRow(r)) }, func() error { table.Flush(); return table.Error() }, nil
	}
	return nil, nil, fmt.Errorf("want --format jsonl, csv or sniffer, found %q", format)
}

// writeLegacy writes the lines that the predecessor's sidecar would have written of the attempt.
func writeLegacy(lines *json.Encoder, r *trace.Record) error {
	for _, event := range tracesink.LegacyEvents(r) {
		line := struct {
			Object    string `json:"object"`
			Name      string `json:"name"`
			Namespace string `json:"namespace,omitempty"`
			UID       string `json:"uid,omitempty"`
			Endpoint  string `json:"endpoint,omitempty"`
			Node      string `json:"node,omitempty"`
			Event     string `json:"event,omitempty"`
			Timestamp string `json:"timestamp,omitempty"`
		}{event.Object, event.Name, event.Namespace, event.UID, event.Endpoint, event.Node, event.Event, trace.LegacyTime(event.Time)}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// convert writes the events of a log of the predecessor.
func (o *traceExportOptions) convert(in io.Reader, out, errOut io.Writer) error {
	encoder := json.NewEncoder(out)
	for lines := trace.NewLines(in); ; {
		events, err := trace.ReadEvents(lines)
		for i := range events {
			if err := encoder.Encode(&events[i]); err != nil {
				return err
			}
		}
		var fault *trace.LineError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &fault):
			fmt.Fprintf(errOut, "left out: %v\n", fault)
		case err != nil:
			return err
		}
	}
}

func csvHeader() []string {
	return []string{
		"start", "end", "profile", "namespace", "pod", "uid", "attempt", "outcome", "tentative", "node", "found",
		"queueWaitMs", "durationMs",
		"nodes", "excluded", "rejected", "feasible", "notEvaluated", "score", "runnerUp", "margin", "nominatedNode",
		"victims", "plugin", "message",
	}
}

func csvRow(r *trace.Record) []string {
	score, runnerUp, margin, nominated, victims := "", "", "", "", 0
	if s := r.Scores; s != nil && len(s.Top) > 0 {
		score, runnerUp, margin = strconv.FormatInt(s.Top[0].Total, 10), s.RunnerUp, strconv.FormatInt(s.Margin, 10)
	}
	if p := r.Preemption; p != nil {
		nominated, victims = p.NominatedNode, len(p.Victims)
	}
	return []string{
		r.Start.Format(time.RFC3339Nano), r.End.Format(time.RFC3339Nano), r.Profile, r.Pod.Namespace, r.Pod.Name, r.Pod.UID,
		strconv.Itoa(r.Attempt), outcomeOf(r), strconv.FormatBool(r.Tentative), r.Node, string(r.Found), inMilliseconds(r.QueueWait),
		inMilliseconds(r.End.Sub(r.Start)), strconv.Itoa(r.Nodes.Total), strconv.Itoa(r.Nodes.Excluded), strconv.Itoa(r.Nodes.Rejected),
		strconv.Itoa(r.Nodes.Feasible), strconv.Itoa(r.Nodes.NotEvaluated), score, runnerUp, margin, nominated, strconv.Itoa(victims),
		r.Plugin, r.Message,
	}
}

func inMilliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}
