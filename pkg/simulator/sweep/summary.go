package sweep

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// Summary is what the seeds of one policy on one trace have in common.
type Summary struct {
	Trace  string `json:"trace"`
	Policy string `json:"policy"`
	Runs   int    `json:"runs"`
	// At100 and AtEnd are the allocated part of the GPU capacity in percent.
	At100 Mean `json:"at100"`
	AtEnd Mean `json:"atEnd"`
	// Frag90 is the fragment in percent of the idle capacity at 90 % arrived.
	Frag90 Mean `json:"fragRatio90"`
	// Seconds is the time of one run.
	Seconds Mean `json:"wallSeconds"`
}

// Mean is a mean and the sample's standard deviation; Values counts what it was taken of.
type Mean struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Values    int     `json:"values"`
}

func meanOf(values []float64) Mean {
	m := Mean{Values: len(values)}
	if m.Values == 0 {
		return m
	}
	for _, v := range values {
		m.Mean += v
	}
	m.Mean /= float64(m.Values)
	squares := 0.0
	for _, v := range values {
		squares += (v - m.Mean) * (v - m.Mean)
	}
	if m.Values > 1 {
		m.Deviation = math.Sqrt(squares / float64(m.Values-1))
	}
	return m
}

// String is empty without values.
func (m Mean) String() string {
	switch m.Values {
	case 0:
		return "<none>"
	case 1:
		return fmt.Sprintf("%.2f", m.Mean)
	default:
		return fmt.Sprintf("%.2f ± %.2f", m.Mean, m.Deviation)
	}
}

// Summarise sums up results, in the order in which traces and policies first appear.
func Summarise(results []*report.Document) []Summary {
	type key struct{ trace, policy string }
	var order []key
	by := map[key][]*report.Document{}
	for _, d := range results {
		k := key{d.Trace, d.Policy}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], d)
	}
	var all []Summary
	for _, k := range order {
		var at100, atEnd, frag, seconds []float64
		for _, d := range by[k] {
			at100 = appendAt(at100, d.Allocation, 100)
			frag = appendAt(frag, d.FragRatio, 90)
			if n := len(d.Allocation); n > 0 {
				atEnd = append(atEnd, d.Allocation[n-1].Value)
			}
			seconds = append(seconds, d.WallSeconds)
		}
		all = append(all, Summary{
			Trace: k.trace, Policy: k.policy, Runs: len(by[k]),
			At100: meanOf(at100), AtEnd: meanOf(atEnd), Frag90: meanOf(frag), Seconds: meanOf(seconds),
		})
	}
	return all
}

func appendAt(values []float64, curve report.Curve, percent int) []float64 {
	for _, point := range curve {
		if point.ArrivedPercent == percent {
			return append(values, point.Value)
		}
	}
	return values
}

// WriteText writes a table of summaries: means and standard deviations over seeds.
func WriteText(out io.Writer, summaries []Summary) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "TRACE\tPOLICY\tRUNS\tALLOCATED AT 100%\tAT THE END\tFRAGMENT RATIO AT 90%\tSECONDS A RUN")
	for i := range summaries {
		s := &summaries[i]
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", s.Trace, s.Policy, s.Runs, s.At100, s.AtEnd, s.Frag90, s.Seconds)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}
