package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// reporter returns what writes a result to out as soon as it is there.
func reporter(output string, out io.Writer, selected []*format.Scenario) func(scenario.Result) {
	if output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		return func(r scenario.Result) {
			_ = encoder.Encode(r) // a closed pipe: nobody reads results any more
		}
	}
	widths := columns{name: 1, pod: 1, node: 1}
	for _, s := range selected {
		widths.name = max(widths.name, len(s.ID()))
		pod, node := scenario.Columns(s)
		widths.pod = max(widths.pod, len(pod))
		widths.node = max(widths.node, len(node))
	}
	return func(r scenario.Result) { fmt.Fprintln(out, widths.line(r)) }
}

// columns are the widths in which results are aligned. They are known before the first result, because each line is
// written as soon as its scenario has ended.
type columns struct{ name, pod, node int }

func (c columns) line(r scenario.Result) string {
	verdict := "FAIL"
	if r.OK {
		verdict = "ok"
	}
	line := fmt.Sprintf("%-4s  %-*s  %-*s  %-*s  %s", verdict, c.name, r.Scenario,
		c.pod, orDash(r.Pod), c.node, orDash(r.Node), oneLine(r.Reason))
	return strings.TrimRight(line, " ")
}

// oneLine flattens a reason. Of a long one, which quotes a log, the first line stays; progress has shown the rest.
func oneLine(reason string) string {
	const longest = 500
	if first, _, more := strings.Cut(reason, "\n"); more && len(reason) > longest {
		return first + " ..."
	}
	return strings.Join(strings.Fields(reason), " ")
}

// orDash keeps the number of columns the same for those who cut lines into fields.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func listScenarios(out io.Writer, selected []*format.Scenario) error {
	width := 0
	for _, s := range selected {
		width = max(width, len(s.ID()))
	}
	for _, s := range selected {
		if _, err := fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, s.ID(), s.Description), " ")); err != nil {
			return err
		}
	}
	return nil
}

// mustComplete offers a flag's values to the shell. It fails only for a flag that does not exist.
func mustComplete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
