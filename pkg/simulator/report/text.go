package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText writes a table with a row for each run.
func WriteText(out io.Writer, runs ...*Run) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POLICY\tTRACE\tSEED\tENGINE\tNODES\tGPUS\tPODS\tSCHEDULED\tGPU ALLOCATED\tAT 100%\tFRAGMENT\tSECONDS\tDECISIONS/S")
	for _, r := range runs {
		scheduled, _ := r.Count()
		allocated, fragment := none, none
		if stage := r.stage(""); stage != nil && stage.Usage.TotalGPUMilli > 0 {
			u := &stage.Usage
			allocated = fmt.Sprintf("%.2f%%", percent(float64(u.UsedGPUMilli), float64(u.TotalGPUMilli)))
			fragment = fmt.Sprintf("%.2f%%", percent(u.Frag.Fragment(), float64(u.TotalGPUMilli)))
		}
		at100 := none
		if point, found := r.At(100); found {
			at100 = fmt.Sprintf("%.2f%%", point.Allocation)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%.2f\t%.0f\n", r.Policy, orNone(r.Trace), r.Seed, r.Engine,
			len(r.Nodes), r.TotalGPUs(), len(r.Placements), scheduled, allocated, at100, fragment, r.Wall.Seconds(), r.DecisionsPerSecond())
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// none stands in a cell without a value, as kubectl has it.
const none = "<none>"

func orNone(text string) string {
	if text == "" {
		return none
	}
	return text
}
