package agent

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// worker runs one collector. All methods but firstRoundEnded and runningFor belong to one goroutine.
type worker struct {
	name      string
	scheduled Scheduled
	metrics   collectorMetrics
	random    *rand.Rand

	// failures counts the rounds that failed since the last success.
	failures uint

	mu      sync.Mutex
	started time.Time // of the round that is running, else zero
	ended   bool      // a round has ended
}

// run does rounds until ctx ends, then closes the collector, giving it at most the drain timeout.
func (w *worker) run(ctx context.Context, drain time.Duration) error {
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).WithValues("collector", w.name))
	wait := firstDelay(w.scheduled.Interval, w.random.Float64())
	for sleep(ctx, wait) {
		elapsed := w.round(ctx)
		var missed int
		wait, missed = nextDelay(w.scheduled.Interval, elapsed, w.random.Float64())
		w.metrics.missed.Add(float64(missed))
	}

	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := guard(func() error { return w.scheduled.Collector.Close(closeCtx) }); err != nil {
		return fmt.Errorf("cannot close collector %q: %w", w.name, err)
	}
	return nil
}

// round does one round and returns how long it took.
func (w *worker) round(ctx context.Context) time.Duration {
	roundCtx, cancel := context.WithTimeout(ctx, w.scheduled.Timeout)
	defer cancel()

	start := time.Now()
	w.setRunning(start)
	err := guard(func() error { return w.scheduled.Collector.Collect(roundCtx, start) })
	end := time.Now()
	w.setEnded()

	w.report(ctx, roundCtx, err, end)
	w.metrics.duration.Observe(end.Sub(start).Seconds())
	return end.Sub(start)
}

// report counts the round and logs what an operator should know of it.
func (w *worker) report(ctx, roundCtx context.Context, err error, end time.Time) {
	logger := klog.FromContext(ctx)
	if err == nil {
		if w.failures > 0 {
			logger.Info("Collector works again", "failedRounds", w.failures)
		}
		w.failures = 0
		w.metrics.rounds[resultSuccess].Inc()
		w.metrics.lastSuccess.Set(float64(end.UnixNano()) / float64(time.Second))
		return
	}

	var caught *panicError
	result := resultError
	switch {
	case errors.As(err, &caught):
		result = resultPanic
	case ctx.Err() != nil:
		// The agent is stopping and has cancelled the round: not the collector's failure.
		return
	case roundCtx.Err() != nil:
		result = resultTimeout
	}
	w.metrics.rounds[result].Inc()
	w.failures++

	// A collector that fails every second must not fill the disk it may be measuring: the 1st, 2nd, 4th, 8th ...
	// failure in a row is logged. The metrics have them all.
	if bits.OnesCount(w.failures) != 1 {
		return
	}
	if caught != nil {
		logger = logger.WithValues("stack", string(caught.stack))
	}
	logger.Error(err, "Collector failed", "result", result, "failedRounds", w.failures)
}

func (w *worker) setRunning(start time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = start
}

func (w *worker) setEnded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started, w.ended = time.Time{}, true
}

// firstRoundEnded tells whether a round has ended. It may be called concurrently.
func (w *worker) firstRoundEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// runningFor returns for how long the present round has been running, 0 between rounds. It may be called
// concurrently.
func (w *worker) runningFor() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started.IsZero() {
		return 0
	}
	return time.Since(w.started)
}

// panicError is a panic turned into an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guard calls f and turns a panic into an error.
func guard(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return f()
}
