package state

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/staticfile"
)

// delayFilesInterval is how often a look is taken at whether files have changed.
const delayFilesInterval = 2 * time.Second

// delayFiles puts a delay matrix in files into the store, again whenever a file has changed.
type delayFiles struct {
	files    staticfile.Files
	store    *delay.Store
	failures prometheus.Counter
	seen     [2]fileVersion      // of the files that were read last
	failed   string              // the failure that was logged last
	rows     map[string]struct{} // nodes whose rows come from the files
}

// fileVersion is what tells that a file is another one than before, without reading it.
type fileVersion struct {
	modified time.Time
	size     int64
}

// WatchDelayFiles reads a delay matrix from files, and again when they change, until ctx ends. Files that are absent or
// cannot be read leave what was read before in place, are logged, and are counted in a metric that is registered with
// reg. It is to be called once.
func (s *State) WatchDelayFiles(ctx context.Context, files configv1.DelayFiles, reg registerer) error {
	w := newDelayFiles(files, s.rtts.store)
	if err := reg.Register(w.failures); err != nil {
		return fmt.Errorf("registering metrics of the delay matrix in files: %w", err)
	}
	w.look(ctx, s.rtts.clock.Now()) // so that the first pods find it
	go wait.UntilWithContext(ctx, func(ctx context.Context) { w.look(ctx, s.rtts.clock.Now()) }, delayFilesInterval)
	return nil
}

func newDelayFiles(files configv1.DelayFiles, store *delay.Store) *delayFiles {
	return &delayFiles{
		files: staticfile.Files{Matrix: files.Matrix, Metadata: files.Metadata}, store: store, rows: map[string]struct{}{},
		failures: NewDelayFilesFailures(),
	}
}

// NewDelayFilesFailures returns the metric of [State.WatchDelayFiles], which counts what it could not read.
func NewDelayFilesFailures() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vicinity_delay_files_failures_total",
		Help: "Looks at the files of a static delay matrix that found it absent or faulty; what was read before goes on to count.",
	})
}

// look reads the files if they have changed, or could not be read before.
func (w *delayFiles) look(ctx context.Context, now time.Time) {
	logger := klog.FromContext(ctx)
	changed, err := w.read(now)
	switch {
	case err != nil:
		w.failures.Inc()
		if text := err.Error(); text != w.failed {
			w.failed = text
			logger.Error(err, "Static round-trip times are not read; those read before go on to count",
				"matrix", w.files.Matrix, "metadata", w.files.Metadata)
		}
	case changed:
		w.failed = ""
		logger.V(2).Info("Static round-trip times read", "matrix", w.files.Matrix, "nodes", len(w.rows))
	}
}

func (w *delayFiles) read(now time.Time) (changed bool, err error) {
	var seen [2]fileVersion
	for i, path := range []string{w.files.Matrix, w.files.Metadata} {
		if seen[i], err = versionOf(path); err != nil {
			return false, err
		}
	}
	if seen == w.seen {
		return false, nil
	}
	rows, changed, err := w.files.Refresh()
	if err != nil {
		return false, err
	}
	w.seen = seen
	if changed {
		w.replace(rows, now)
	}
	return changed, nil
}

// replace puts rows into the store and takes those out that are no longer in the files.
func (w *delayFiles) replace(rows []delay.Row, now time.Time) {
	last := w.rows
	w.rows = make(map[string]struct{}, len(rows))
	for _, row := range rows {
		w.store.Update(row.From, delay.SourceFiles, row.Peers, now)
		w.rows[row.From] = struct{}{}
		delete(last, row.From)
	}
	for node := range last {
		w.store.Update(node, delay.SourceFiles, nil, now)
	}
}

// versionOf follows links: a ConfigMap that is mounted changes by one.
func versionOf(path string) (fileVersion, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileVersion{}, fmt.Errorf("static round-trip times: %w", err)
	}
	return fileVersion{modified: info.ModTime(), size: info.Size()}, nil
}
