package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
)

// RunnerOptions is what a Runner is made from. All fields are required, but there may be no collectors.
type RunnerOptions struct {
	// Collectors run for as long as Run does. Their names must differ.
	Collectors []Scheduled
	// Registerer takes the metrics listed in the package comment.
	Registerer prometheus.Registerer
	// Rand varies the schedules. It is used by NewRunner only.
	Rand *rand.Rand
	// DrainTimeout bounds how long Run goes on after its context has ended.
	DrainTimeout time.Duration
}

// Runner runs collectors on their schedules. The package comment says what it promises.
type Runner struct {
	workers []*worker
	drain   time.Duration
}

// NewRunner prepares the collectors to run. It takes them over: from now on they are closed by Run.
func NewRunner(o RunnerOptions) (*Runner, error) {
	if o.DrainTimeout <= 0 {
		return nil, fmt.Errorf("expected a drain timeout above 0, found %s", o.DrainTimeout)
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	r := &Runner{drain: o.DrainTimeout}
	seen := make(map[string]bool, len(o.Collectors))
	for _, s := range o.Collectors {
		name := s.Collector.Name()
		if seen[name] {
			return nil, fmt.Errorf("collector %q is scheduled twice, expected once", name)
		}
		seen[name] = true
		if s.Interval <= 0 || s.Timeout <= 0 {
			return nil, fmt.Errorf("collector %q: expected an interval and a timeout above 0, found %s and %s", name, s.Interval, s.Timeout)
		}
		r.workers = append(r.workers, &worker{
			name:      name,
			scheduled: s,
			metrics:   m.forCollector(name),
			// One source each: workers draw concurrently.
			random: rand.New(rand.NewPCG(o.Rand.Uint64(), o.Rand.Uint64())),
		})
	}
	return r, nil
}

// Run runs the collectors until ctx ends, and returns when all are closed or the drain timeout is over. It returns
// nil for an orderly end. An error names the collectors that could not be closed and those that did not stop; the
// goroutines of the latter are still running. Run may be called once only.
func (r *Runner) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	ended := make(chan workerEnd, len(r.workers))
	for _, w := range r.workers {
		logger.Info("Starting collector", "collector", w.name, "interval", w.scheduled.Interval, "timeout", w.scheduled.Timeout)
		go func() { ended <- workerEnd{w.name, w.run(ctx, r.drain)} }()
	}

	<-ctx.Done()
	return r.await(ended)
}

// workerEnd tells that a worker has ended, and how.
type workerEnd struct {
	name string
	err  error
}

// await collects the ends of all workers, for at most the drain timeout.
func (r *Runner) await(ended <-chan workerEnd) error {
	running := make(map[string]bool, len(r.workers))
	for _, w := range r.workers {
		running[w.name] = true
	}
	timer := time.NewTimer(r.drain)
	defer timer.Stop()

	var errs []error
	for len(running) > 0 {
		select {
		case end := <-ended:
			delete(running, end.name)
			errs = append(errs, end.err)
		case <-timer.C:
			names := r.namesOf(func(w *worker) bool { return running[w.name] })
			return errors.Join(append(errs, fmt.Errorf("collectors that did not stop within %s: %s", r.drain, names))...)
		}
	}
	return errors.Join(errs...)
}

// Ready is a health check that fails until every collector has ended its first round.
func (r *Runner) Ready(*http.Request) error {
	if names := r.namesOf(func(w *worker) bool { return !w.firstRoundEnded() }); names != "" {
		return fmt.Errorf("waiting for the first round of: %s", names)
	}
	return nil
}

// Live is a health check that fails while a round is running far beyond its deadline.
func (r *Runner) Live(*http.Request) error {
	stuck := func(w *worker) bool { return w.runningFor() > stuckAfter(w.scheduled.Timeout) }
	if names := r.namesOf(stuck); names != "" {
		return fmt.Errorf("rounds that ignore their deadline: %s", names)
	}
	return nil
}

// namesOf returns the names of the workers that match, separated by commas, in the order of the configuration.
func (r *Runner) namesOf(match func(*worker) bool) string {
	var names []string
	for _, w := range r.workers {
		if match(w) {
			names = append(names, w.name)
		}
	}
	return strings.Join(names, ", ")
}
