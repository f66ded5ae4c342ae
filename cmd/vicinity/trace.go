package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func newTraceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Follow, convert and compare what the scheduler has recorded, and record a cluster for replay",
		Long: "Follow, convert and compare the scheduler's decision records (JSON lines), and record a cluster's objects for replay.\n\n" +
			"Records come from a file that plugin Sniffer writes (sinks.file), or from the socket on which a running scheduler serves\n" +
			"the latest ones (sinks.live).",
	}
	cmd.AddCommand(newTraceTailCommand(), newTraceExportCommand(), newTraceDiffCommand(), newTraceRecordCommand())
	return cmd
}

// recordSource is where records are read.
type recordSource struct {
	file, socket, namespace, pod string
}

func (s *recordSource) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&s.file, "file", "f", os.Getenv("VICINITY_RECORDS"), "`FILE` of JSON lines; - is the standard input (default $VICINITY_RECORDS)")
	flags.StringVar(&s.socket, "socket", "", "`SOCKET` of a running scheduler, instead of a file")
	flags.StringVarP(&s.namespace, "namespace", "n", "", "only pods of this namespace")
	flags.StringVar(&s.pod, "pod", "", "only the pod of this name or UID")
}

func (s *recordSource) validate() error {
	if (s.file == "") == (s.socket == "") && !(s.socket != "" && s.file == os.Getenv("VICINITY_RECORDS")) {
		return errors.New("want either --file or --socket")
	}
	return nil
}

func (s *recordSource) wants(r *trace.Record) bool {
	return (s.namespace == "" || r.Pod.Namespace == s.namespace) && (s.pod == "" || r.Pod.Name == s.pod || r.Pod.UID == s.pod)
}

// open returns what the records are read from.
func (s *recordSource) open(ctx context.Context) (io.ReadCloser, error) {
	switch {
	case s.socket != "":
		return s.ask(ctx)
	case s.file == "-":
		return io.NopCloser(os.Stdin), nil
	}
	file, err := os.Open(s.file)
	if err != nil {
		return nil, fmt.Errorf("decision records: %w", err)
	}
	return file, nil
}

// ask gets the latest records of a running scheduler.
func (s *recordSource) ask(ctx context.Context) (io.ReadCloser, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.socket)
	}
	query := url.Values{"namespace": {s.namespace}, "pod": {s.pod}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://scheduler/v1/records?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("decision records: %w", err)
	}
	response, err := (&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("decision records of the scheduler at %s: %w", s.socket, err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("decision records of the scheduler at %s: want 200 OK, found %s", s.socket, response.Status)
	}
	return response.Body, nil
}

// each calls f for the records that are wanted. Lines that cannot be read are said and passed over.
func (s *recordSource) each(in io.Reader, errOut io.Writer, f func(*trace.Record) error) error {
	for lines := trace.NewLines(in); ; {
		record, err := trace.ReadRecord(lines)
		var fault *trace.LineError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &fault):
			fmt.Fprintf(errOut, "left out: %v\n", fault)
			continue
		case err != nil:
			return fmt.Errorf("decision records: %w", err)
		}
		if s.wants(&record) {
			if err := f(&record); err != nil {
				return err
			}
		}
	}
}

type traceTailOptions struct {
	source recordSource
	lines  int
	follow bool
}

func newTraceTailCommand() *cobra.Command {
	o := &traceTailOptions{}
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the latest decisions, one a line",
		Example: "  vicinity trace tail --file decisions.jsonl --follow\n" +
			"  vicinity trace tail --socket /run/vicinity/live.sock --pod web-0",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.addFlags(cmd)
	cmd.Flags().IntVar(&o.lines, "lines", 20, "how many of the latest to show; 0 for all")
	cmd.Flags().BoolVar(&o.follow, "follow", false, "go on with what is written from now on, to a file")
	return cmd
}

func (o *traceTailOptions) run(ctx context.Context, out, errOut io.Writer) error {
	if err := o.source.validate(); err != nil {
		return err
	}
	if o.follow && (o.source.socket != "" || o.source.file == "-") {
		return errors.New("--follow is for files")
	}
	in, err := o.source.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	var latest []string
	err = o.source.each(in, errOut, func(r *trace.Record) error {
		latest = append(latest, traceLine(r))
		if o.lines > 0 && len(latest) > o.lines {
			latest = latest[1:]
		}
		return nil
	})
	for _, line := range latest {
		fmt.Fprintln(out, line)
	}
	if err != nil || !o.follow {
		return err
	}
	return o.source.each(&growing{ctx: ctx, in: in}, errOut, func(r *trace.Record) error {
		_, err := fmt.Fprintln(out, traceLine(r))
		return err
	})
}

// growing waits at the end of a file for more. The file that is followed is the one that was opened: after a rotation,
// what comes is in another.
type growing struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to be told
	in  io.Reader
}

// Read implements io.Reader.
func (g *growing) Read(p []byte) (int, error) {
	for {
		n, err := g.in.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		select {
		case <-g.ctx.Done():
			return 0, io.EOF
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// traceLine is a decision in one line.
func traceLine(r *trace.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-13s  %s/%s", r.End.Format("2006-01-02T15:04:05.000Z"), outcomeOf(r), r.Pod.Namespace, strconv.Quote(r.Pod.Name))
	if r.Node != "" {
		fmt.Fprintf(&b, "  on %s", r.Node)
	}
	if r.Found != trace.FoundNone {
		fmt.Fprintf(&b, " (%s", r.Found)
		if r.Scores != nil && r.Scores.RunnerUp != "" {
			fmt.Fprintf(&b, ", %d ahead of %s", r.Scores.Margin, r.Scores.RunnerUp)
		}
		b.WriteByte(')')
	}
	fmt.Fprintf(&b, "  %d/%d nodes", r.Nodes.Feasible, r.Nodes.Total)
	if r.Preemption != nil && len(r.Preemption.Victims) > 0 {
		fmt.Fprintf(&b, "  preempting %d", len(r.Preemption.Victims))
	}
	if r.Message != "" {
		b.WriteString("  " + oneLine(strconv.QuoteToGraphic(r.Message)))
	}
	return b.String()
}

func outcomeOf(r *trace.Record) string {
	if r.Kind != trace.KindAttempt {
		return string(r.Kind)
	}
	if r.Tentative {
		return string(r.Outcome) + "?"
	}
	return string(r.Outcome)
}

// buffered writes to out in larger pieces; the returned function ends that.
func buffered(out io.Writer) (*bufio.Writer, func(error) error) {
	w := bufio.NewWriter(out)
	return w, func(err error) error { return errors.Join(err, w.Flush()) }
}
