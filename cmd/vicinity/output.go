package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// What stands in a cell without a value, as kubectl has it; notApplicable is for what a gateway does not have.
const (
	none          = "<none>"
	unknown       = "<unknown>"
	notApplicable = "-"
)

// writeObject writes what programs read, as json or yaml.
func writeObject(out io.Writer, format string, object any) error {
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(object)
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("writing YAML: %w", err)
	}
	_, err = out.Write(text)
	return err
}

// writeTable aligns rows below a header with tabs; without rows it writes nothing.
func writeTable(out io.Writer, header string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, header)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	_, err := text.WriteTo(out)
	return err
}

// humanBytes shows a number of bytes with two digits at least, in the binary units of Kubernetes' quantities. Those
// cannot do it themselves: they are exact, and show 5 GB as 5000000000.
func humanBytes(n int64) string {
	const units = "KMGTPE"
	value, unit := float64(n), -1
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	switch {
	case unit < 0:
		return fmt.Sprint(n)
	case value < 9.95:
		return fmt.Sprintf("%.1f%ci", value, units[unit])
	case value >= 1023.5 && unit < len(units)-1:
		return fmt.Sprintf("1.0%ci", units[unit+1])
	default:
		return fmt.Sprintf("%.0f%ci", value, units[unit])
	}
}

// humanPercent rounds down, so that 100% means all of it; what is there at all does not look like nothing.
func humanPercent(percent float64) string {
	if percent > 0 && percent < 1 {
		return "<1%"
	}
	return fmt.Sprintf("%d%%", int64(percent))
}
