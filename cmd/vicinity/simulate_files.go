package main

import (
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// writeFiles writes what flags ask for beside stdout.
func (s *simulation) writeFiles(runs []*report.Run) error {
	if s.options.csv != "" {
		if err := report.WriteTables(s.options.csv, runs...); err != nil {
			return err
		}
	}
	return nil
}
