package main

import (
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// writeFiles writes what flags ask for beside stdout.
func (s *simulation) writeFiles(pages []report.PageRun) error {
	if s.options.csv != "" {
		if err := report.WriteTables(s.options.csv, plain(pages)...); err != nil {
			return err
		}
	}
	// The predecessor writes snapshots of its only run; with two, the second would overwrite the first.
	if len(pages) == 1 {
		export := &s.loaded.Export
		if err := report.WriteSnapshots(export.NodeSnapshotCSVFilePrefix, export.PodSnapshotYAMLFilePrefix, pages[0].Run); err != nil {
			return err
		}
	}
	if s.options.html != "" {
		return report.WritePageFile(s.options.html, pages...)
	}
	return nil
}

// plain are the runs without what only a page shows.
func plain(pages []report.PageRun) []*report.Run {
	runs := make([]*report.Run, 0, len(pages))
	for i := range pages {
		runs = append(runs, pages[i].Run)
	}
	return runs
}
