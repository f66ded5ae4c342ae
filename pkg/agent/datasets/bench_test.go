package datasets

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// One walk through 10,000 files in 100 folders; ns/file is what a file costs when the file system has it in memory.
func BenchmarkWalk(b *testing.B) {
	const filesInAll = 10000
	path := b.TempDir()
	for i := range filesInAll {
		writeFile(b, filepath.Join(path, "team", fmt.Sprintf("ds%d", i%10), strconv.Itoa(i/10%10), strconv.Itoa(i)), 1)
	}
	r := newRoot(b, path)
	b.ReportAllocs()
	for b.Loop() {
		pass(b, r, start(), atOnce)
	}
	if len(r.counts) != 10 {
		b.Fatalf("%d datasets, want 10", len(r.counts))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/filesInAll, "ns/file")
}

// What a round costs beside the walk when nothing has changed: 2,048 datasets are put together, listed and compared.
func BenchmarkRoundWithoutNews(b *testing.B) {
	r := &root{medium: "SSD", settled: true, counts: map[datasetName]observation{}}
	for i := range maxEntries {
		r.counts[datasetName{"team", "dataset-" + strconv.Itoa(i)}] = observation{bytes: int64(1 + i), at: start()}
	}
	first, _ := entries(known([]*root{r}, nil))
	last, schedule := bytesOf(first), report.Schedule{Heartbeat: 1}
	must(b, schedule.Done(start(), nil))
	b.ReportAllocs()
	for b.Loop() {
		list, _ := entries(known([]*root{r}, nil))
		if reason := schedule.Reason(start(), changed(last, bytesOf(list), 5)); reason != "" {
			b.Fatalf("a report is due: %s", reason)
		}
	}
}
