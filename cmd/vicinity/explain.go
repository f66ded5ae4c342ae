package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/explain"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// fullRecordHint says how to learn about nodes that a record only counts.
const fullRecordHint = "To have every node recorded, label the pod vicinity.dev/trace=full."

type explainOptions struct {
	service serviceOptions
	file    string
	socket  string
	node    string
	pending bool
	all     bool
	every   bool
	output  string
}

func newExplainCommand() *cobra.Command {
	o := &explainOptions{}
	cmd := &cobra.Command{
		Use:   "explain [pod] NAME",
		Short: "Say why a pod is where it is, why it is not elsewhere, and what would change that",
		Long: "Say why a pod is where it is or why it has no node, why it is not on another node, and what would change that.\n\n" +
			"The decisions come from the service vicinity-sniffer, or without one from a file of plugin Sniffer or the socket of a\n" +
			"running scheduler. " + serviceHelp,
		Example: "  vicinity explain pod web-0\n" +
			"  vicinity explain web-0 --node node-7\n" +
			"  vicinity explain --pending --all-namespaces\n" +
			"  vicinity explain web-0 --file decisions.jsonl",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.service.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.node, "node", "", "ask why the pod is not on this `NODE`")
	flags.BoolVar(&o.pending, "pending", false, "explain all pods without a node, grouped by what stands in their way")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "with --pending: of all namespaces")
	flags.BoolVar(&o.every, "attempts", false, "explain every attempt, not only the last")
	flags.StringVarP(&o.file, "file", "f", "", "read decisions from a `FILE` of JSON lines instead of the service; - is the standard input")
	flags.StringVar(&o.socket, "socket", "", "read the latest decisions from the `SOCKET` of a running scheduler instead")
	flags.StringVarP(&o.output, "output", "o", "", "json")
	mustComplete(cmd, "output", "json")
	return cmd
}

func (o *explainOptions) validate(args []string) (name string, err error) {
	if len(args) > 0 {
		name = args[len(args)-1]
	}
	if len(args) == 2 && args[0] != "pod" && args[0] != "pods" {
		return "", fmt.Errorf("only pods can be explained, found %q", args[0])
	}
	if len(args) == 1 {
		if rest, found := strings.CutPrefix(name, "pod/"); found {
			name = rest
		}
	}
	local := o.file != "" || o.socket != ""
	switch {
	case o.pending == (name != ""):
		return "", errors.New("want the name of a pod or --pending, and not both")
	case o.pending && local:
		return "", errors.New("--pending asks the service; --file and --socket are for one pod")
	case o.file != "" && o.socket != "":
		return "", errors.New("--file and --socket exclude each other")
	case o.all && !o.pending:
		return "", errors.New("--all-namespaces is for --pending")
	case o.output != "" && o.output != "json":
		return "", fmt.Errorf("--output: want json, found %q", o.output)
	}
	return name, nil
}

func (o *explainOptions) run(ctx context.Context, args []string, out, errOut io.Writer) error {
	name, err := o.validate(args)
	if err != nil {
		return err
	}
	if o.file != "" || o.socket != "" {
		return o.explainRecords(ctx, name, out, errOut)
	}
	service, err := o.service.connect(ctx)
	if err != nil {
		return err
	}
	defer service.close()
	if o.pending {
		return o.explainPending(ctx, service, out)
	}
	var history api.PodHistory
	path := "pods/" + url.PathEscape(service.namespace) + "/" + url.PathEscape(name)
	if err := service.get(ctx, path, url.Values{"node": {o.node}}, &history); err != nil {
		return err
	}
	if o.output == "json" {
		return writeJSON(out, history)
	}
	writeHistory(out, &history, o.every)
	return nil
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func writeHistory(out io.Writer, history *api.PodHistory, every bool) {
	pod := &history.Pod
	fmt.Fprintf(out, "Pod %s/%s\n", clean(pod.Namespace), clean(pod.Name))
	for _, at := range []struct {
		what string
		when time.Time
	}{{"created", pod.Created}, {"bound", pod.Bound}, {"started", pod.Started}, {"ended", pod.Ended}} {
		if !at.when.IsZero() {
			fmt.Fprintf(out, "  %-8s %s\n", at.what, at.when.Format(time.RFC3339))
		}
	}
	if len(history.Attempts) == 0 {
		fmt.Fprintln(out, "\nNo attempt to schedule it was recorded: it may be another scheduler's, or not have been tried yet.")
		return
	}
	attempts := history.Attempts
	if !every {
		attempts = attempts[:1]
	}
	for i := range attempts {
		attempt := &attempts[i]
		fmt.Fprintf(out, "\nAttempt %d, %s, took %.1f ms after %.1f ms in the queue\n", attempt.Attempt, attempt.Time.Format(time.RFC3339), attempt.TookMs, attempt.QueuedMs)
		writeExplanation(out, &attempt.Explanation, attempt.WhyNot)
	}
	if rest := len(history.Attempts) - len(attempts); rest > 0 {
		fmt.Fprintf(out, "\n%d earlier attempts are known: --attempts shows them.\n", rest)
	}
}

func writeExplanation(out io.Writer, e *explain.Explanation, whyNot string) {
	fmt.Fprintf(out, "  %s\n", clean(e.Headline))
	for _, text := range e.Details {
		fmt.Fprintf(out, "  - %s\n", clean(text))
	}
	if len(e.Advice) > 0 {
		fmt.Fprintln(out, "  What would change it:")
		for _, text := range e.Advice {
			fmt.Fprintf(out, "  - %s\n", clean(text))
		}
	}
	if whyNot != "" {
		fmt.Fprintf(out, "  Why not there: %s\n", clean(whyNot))
	}
}

// clean keeps what strangers wrote from moving the cursor of a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, text)
}

func (o *explainOptions) explainPending(ctx context.Context, service *service, out io.Writer) error {
	parameters := url.Values{"sample": {"5"}}
	if !o.all {
		parameters.Set("namespace", service.namespace)
	}
	var list api.PendingList
	if err := service.get(ctx, "pending", parameters, &list); err != nil {
		return err
	}
	if o.output == "json" {
		return writeJSON(out, list)
	}
	if len(list.Items) == 0 {
		fmt.Fprintln(out, "No pod is waiting for a node.")
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "PODS\tOLDEST\tPLUGIN\tREASON\tSUCH AS")
	for i := range list.Items {
		group := &list.Items[i]
		var names []string
		for j := range group.Sample {
			names = append(names, group.Sample[j].Namespace+"/"+group.Sample[j].Name)
		}
		oldest := "-"
		if !group.Oldest.IsZero() {
			oldest = time.Since(group.Oldest).Round(time.Second).String()
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", group.Pods, oldest, clean(dash(group.Plugin)), clean(dash(group.Reason)), clean(strings.Join(names, ", ")))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// explainRecords explains from records, without a service: the last attempt, with the victims that later records name.
func (o *explainOptions) explainRecords(ctx context.Context, name string, out, errOut io.Writer) error {
	source := recordSource{file: o.file, socket: o.socket, namespace: o.service.connection.namespace, pod: name}
	in, err := source.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	var found []trace.Record
	err = source.each(in, errOut, func(r *trace.Record) error {
		if r.Kind == trace.KindAttempt {
			found = append(found, *r)
		} else if last := len(found) - 1; last >= 0 && r.Preemption != nil && found[last].Attempt == r.Attempt {
			found[last].Preemption = r.Preemption
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("no decision about pod %s was found", name)
	}
	if !o.every {
		found = found[len(found)-1:]
	}
	for i := range found {
		r, e := &found[i], explain.Attempt(&found[i])
		fmt.Fprintf(out, "Pod %s/%s, attempt %d, %s\n", clean(r.Pod.Namespace), clean(r.Pod.Name), r.Attempt, r.End.Format(time.RFC3339))
		whyNot := ""
		if o.node != "" {
			whyNot = explain.WhyNot(r, o.node, fullRecordHint)
		}
		writeExplanation(out, &e, whyNot)
	}
	return nil
}
