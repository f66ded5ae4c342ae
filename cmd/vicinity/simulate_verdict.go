package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// writeVerdict writes what the predecessor prints at the end: how many pods have no node, and whether the occupancy is
// within the limits of the environment.
func (s *simulation) writeVerdict(out io.Writer, runs []*report.Run) error {
	if err := report.WriteText(out, runs...); err != nil {
		return err
	}
	success := true
	for _, run := range runs {
		_, unscheduled := run.Count()
		fmt.Fprintf(out, "there are %d unscheduled pods\n", unscheduled)
		within, err := withinLimits(run)
		if err != nil {
			return err
		}
		success = success && unscheduled == 0 && within
	}
	verdict := "Failed!"
	if success {
		verdict = "Success!"
	}
	fmt.Fprintln(out, verdict)
	return nil
}

// withinLimits compares the occupancy with MaxCPU and MaxMemory, in percent.
func withinLimits(run *report.Run) (bool, error) {
	if len(run.Stages) == 0 {
		return true, nil
	}
	u := &run.Stages[len(run.Stages)-1].Usage
	for name, part := range map[string][2]int64{
		"MaxCPU": {u.UsedCPUMilli, u.TotalCPUMilli}, "MaxMemory": {u.UsedMemoryBytes, u.TotalMemoryBytes},
	} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		limit, err := strconv.ParseFloat(text, 64)
		if err != nil || limit < 0 || limit > 100 {
			return false, badInputf("environment variable %s: want a percentage from 0 to 100, found %q", name, text)
		}
		if 100*float64(part[0]) > limit*float64(part[1]) {
			return false, nil
		}
	}
	return true, nil
}
