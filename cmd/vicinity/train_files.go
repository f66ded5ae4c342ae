package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/training"
)

// The lines of a report file between which the tool writes. The rest of the file is people's.
const reportBegin, reportEnd = "<!-- gate: begin -->", "<!-- gate: end -->"

// readCheckpoint returns nil when there is none yet.
func readCheckpoint(file string) (*training.Strategy, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no strategy is what a training starts with
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint: %w", err)
	}
	strategy := &training.Strategy{}
	if err := json.Unmarshal(data, strategy); err != nil {
		return nil, badInputf("checkpoint %s: %w: remove it to start anew", file, err)
	}
	return strategy, nil
}

// writeCheckpoint replaces the file as a whole, so that a training killed meanwhile leaves the one before.
func writeCheckpoint(file string, strategy *training.Strategy) error {
	if file == "" {
		return nil
	}
	data, err := json.Marshal(strategy)
	if err != nil {
		return fmt.Errorf("writing the checkpoint: %w", err)
	}
	next := file + ".next"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return fmt.Errorf("writing the checkpoint: %w", err)
	}
	if err := os.Rename(next, file); err != nil {
		return fmt.Errorf("writing the checkpoint: %w", err)
	}
	return nil
}

// writeReport puts the gate's table between its two lines of the file, or makes the file.
func writeReport(file string, gate []training.Comparison) error {
	table := reportBegin + "\n" + gateTable(gate) + reportEnd + "\n"
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the report: %w", err)
	}
	before, rest, hasBegin := strings.Cut(string(old), reportBegin+"\n")
	_, after, hasEnd := strings.Cut(rest, reportEnd+"\n")
	if len(old) > 0 && (!hasBegin || !hasEnd) {
		return badInputf("report %s: want lines %q and %q to write between, found none", file, reportBegin, reportEnd)
	}
	if err := os.WriteFile(file, []byte(before+table+after), 0o644); err != nil { //nolint:gosec // documentation
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func gateTable(gate []training.Comparison) string {
	var text strings.Builder
	text.WriteString("| workload | in training | FGD | network | difference | deviation of it | seeds |\n|---|---|---|---|---|---|---|\n")
	for i := range gate {
		c := &gate[i]
		fmt.Fprintf(&text, "| %s | %s | %.2f | %.2f | %+.2f | %.2f | %d to %d |\n",
			c.Workload, seen(c), c.FGD, c.Network, c.Difference, c.Deviation, c.Seeds[0], c.Seeds[len(c.Seeds)-1])
	}
	verdict := "does not pass"
	if training.Passes(gate) {
		verdict = "passes"
	}
	fmt.Fprintf(&text, "\nPercent of GPU capacity allocated at the end, mean over the seeds. The network %s the gate.\n", verdict)
	return text.String()
}
