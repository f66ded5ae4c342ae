package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	// keepFor is how long counts of what cannot be read any more are still reported: longer than the restart of
	// whatever mounts the folder, shorter than it takes to move the data elsewhere.
	keepFor = 10 * time.Minute

	// maxDatasets bounds the datasets that are remembered of one root.
	maxDatasets = 1 << 16
)

// observation is the last complete count of a dataset.
type observation struct {
	bytes int64
	// at is when the round began in which the count was completed.
	at time.Time
	// pass is the number of the root's walk.
	pass int
}

// root is what is known of the datasets below one folder.
type root struct {
	path    string
	medium  vicinityv1alpha1.Medium
	layout  configv1.DatasetLayout
	open    func(path string) (site, error)
	metrics *rootMetrics

	// walk is the one that is under way, nil between two.
	walk *walk
	pass int
	// counts holds datasets with at least one byte.
	counts map[datasetName]observation
	// settled says that a walk has seen all of the root once, or that the root was given up: what somebody else
	// counted there before is of no use then.
	settled bool
	// lostSince is since when the root cannot be read; zero while it can.
	lostSince time.Time
}

// advance does some steps of the walk that is under way, or starts one. It returns finished when a walk ended or could
// not begin; the next call starts another one then. An error is for the round to report.
func (r *root) advance(ctx context.Context, now time.Time, p *pace, steps int) (progress, error) {
	w := r.walk
	if w == nil {
		var err error
		if w, err = r.start(); err != nil {
			return finished, r.lose(ctx, now, err)
		}
	}
	// Until the steps are done the walk is nobody's: one that panics must not be taken up again.
	r.walk = nil
	result, err := w.run(ctx, p, steps, func(name datasetName, bytes int64) { r.record(name, bytes, now) })
	switch {
	case err != nil:
		return finished, r.lose(ctx, now, errors.Join(err, w.close()))
	case result == finished:
		r.finish(ctx, now, w)
	default:
		r.walk = w
	}
	return result, nil
}

func (r *root) start() (*walk, error) {
	top, err := r.open(r.path)
	if err != nil {
		return nil, err
	}
	r.pass++
	return newWalk(top, r.layout, r.metrics.walk)
}

func (r *root) record(name datasetName, bytes int64, now time.Time) {
	_, known := r.counts[name]
	switch {
	case bytes == 0:
		delete(r.counts, name)
	case !known && len(r.counts) == maxDatasets:
		r.metrics.walk.skipped[skippedTooMany].Inc()
	default:
		r.counts[name] = observation{bytes: bytes, at: now, pass: r.pass}
	}
}

// finish forgets the datasets that the walk did not find.
func (r *root) finish(ctx context.Context, now time.Time, w *walk) {
	for name, last := range r.counts {
		if last.pass != r.pass && (!w.blind || now.Sub(last.at) >= keepFor) {
			delete(r.counts, name)
		}
	}
	if !r.lostSince.IsZero() {
		klog.FromContext(ctx).Info("Can read the dataset root again", "root", r.path, "after", now.Sub(r.lostSince))
	}
	r.settled, r.lostSince = true, time.Time{}
	r.metrics.readable.Set(1)
	r.metrics.passes.Inc()
	r.metrics.lastPass.Set(float64(now.Unix()))
}

// lose keeps what is known of a root that cannot be read, but not for long. A root that is not there is no error, since
// one configuration serves nodes with different disks, nor is one that was mounted over: the next walk sees the new one.
func (r *root) lose(ctx context.Context, now time.Time, err error) error {
	r.metrics.readable.Set(0)
	if r.lostSince.IsZero() {
		r.lostSince = now
		klog.FromContext(ctx).Info("Cannot read a dataset root; its last counts are kept for a while",
			"root", r.path, "datasets", len(r.counts), "keptFor", keepFor, "reason", err)
	}
	if now.Sub(r.lostSince) >= keepFor {
		clear(r.counts)
		r.settled = true
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errReplaced) {
		return nil
	}
	return fmt.Errorf("dataset root %s cannot be read: %w", r.path, err)
}

func (r *root) close() error {
	if r.walk == nil {
		return nil
	}
	w := r.walk
	r.walk = nil
	return w.close()
}
