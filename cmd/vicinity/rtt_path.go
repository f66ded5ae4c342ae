package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

func newRTTPathCommand() *cobra.Command {
	var o rttOptions
	cmd := &cobra.Command{
		Use:   "path A B",
		Short: "Show what is known of the path between two nodes, by whom, and how old it is",
		Long: "Show what is known of the path between two nodes, or from a node to an endpoint: what every source measured in each\n" +
			"direction, what network coordinates estimate, and which of all that counts for a bound. The cluster is only read.",
		Example: "  vicinity rtt path edge-1 cloud\n\n  vicinity rtt path edge-1 db.example.com:5432",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runPath(cmd.Context(), args[0], args[1], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.connection.addClusterFlags(cmd)
	o.addFileFlags(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json or yaml")
	mustComplete(cmd, "output", "json", "yaml")
	return cmd
}

// pathView is what rtt path shows.
type pathView struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Counts is what a bound of the median is held against; absent if nothing is known.
	Counts   *rttDistance `json:"counts,omitempty"`
	Samples  []rttSample  `json:"samples"`
	Estimate *rttDistance `json:"estimate,omitempty"`
}

type rttSample struct {
	From string `json:"from"`

	rttPath `json:",inline"`
}

// rttDistance is a delay and how it is known.
type rttDistance struct {
	Microseconds      int64  `json:"microseconds"`
	ErrorMicroseconds int64  `json:"errorMicroseconds,omitempty"`
	Kind              string `json:"kind"`
}

func (o *rttOptions) runPath(ctx context.Context, from, to string, out, errOut io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.output == "wide" {
		return known("--output", []string{o.output}, []string{"json", "yaml"})
	}
	view, err := o.read(ctx, errOut)
	if err != nil {
		return err
	}
	ends := []string{from, to}
	for i, name := range ends {
		if view.store.Knows(delay.EndpointName(name)) {
			ends[i] = delay.EndpointName(name)
			continue
		}
		if _, err := view.choose([]string{name}); err != nil {
			return fmt.Errorf("%w, nor has any agent measured to an endpoint of that name", err)
		}
	}
	path := view.path(ends[0], ends[1])
	path.From, path.To = from, to
	if o.output != "" {
		return writeObject(out, o.output, path)
	}
	view.warn(errOut)
	return writePath(out, &path)
}

// path gathers what is known between two places.
func (v *rttView) path(from, to string) pathView {
	p := pathView{Samples: []rttSample{}}
	for _, ends := range [][2]string{{from, to}, {to, from}} {
		samples := v.store.Samples(ends[0], ends[1])
		for i := range samples {
			described := rttSample{From: ends[0], rttPath: v.pathOf(ends[1], &samples[i])}
			if endpoint, ok := delay.EndpointOf(ends[0]); ok {
				described.From = endpoint
			}
			p.Samples = append(p.Samples, described)
		}
	}
	if e, ok := v.store.Estimate(from, to); ok {
		p.Estimate = &rttDistance{
			Microseconds: e.Delay.Microseconds(), ErrorMicroseconds: e.Bar.Microseconds(), Kind: e.By.String(),
		}
	}
	// A bound is about the nodes around a reference: the same question as the scheduler's.
	radius, ok := v.store.Radius(to, delay.Query{Max: delay.MaxDelay, Percentile: delay.P50}, v.now)
	id, found := v.store.Index().ID(from)
	if ok && found {
		if d := radius.Distance(id); d.Kind != delay.Unknown {
			p.Counts = &rttDistance{Microseconds: d.Delay.Microseconds(), ErrorMicroseconds: d.Bar.Microseconds(), Kind: d.Kind.String()}
		}
	}
	return p
}

func writePath(out io.Writer, p *pathView) error {
	fmt.Fprintf(out, "From %s to %s counts: %s\n", p.From, p.To, distanceText(p.Counts))
	if p.Estimate != nil {
		fmt.Fprintf(out, "Estimated: %s\n", distanceText(p.Estimate))
	}
	rows := make([][]string, 0, len(p.Samples))
	for i := range p.Samples {
		s := &p.Samples[i]
		rows = append(rows, wideRTTRow(s.From, &s.rttPath))
	}
	if len(rows) == 0 {
		fmt.Fprintln(out, "Nobody has measured this path.")
		return nil
	}
	fmt.Fprintln(out)
	return writeTable(out, "FROM\tTO\tP50\tP99\tLOSS\tSAMPLES\tSOURCE\tAGE", rows)
}

func distanceText(d *rttDistance) string {
	if d == nil {
		return "nothing, the round-trip time is not known"
	}
	text := milliseconds(time.Duration(d.Microseconds) * time.Microsecond)
	if d.ErrorMicroseconds > 0 {
		text += " +-" + milliseconds(time.Duration(d.ErrorMicroseconds)*time.Microsecond)
	}
	return text + ", " + d.Kind
}
