package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/klog/v2/ktesting"
)

const testDrain = 10 * time.Second

// fakeCollector does what its functions say; without them it succeeds at once.
type fakeCollector struct {
	name    string
	collect func(ctx context.Context, now time.Time) error
	close   func(ctx context.Context) error
}

func (f *fakeCollector) Name() string { return f.name }

func (f *fakeCollector) Collect(ctx context.Context, now time.Time) error {
	if f.collect == nil {
		return nil
	}
	return f.collect(ctx, now)
}

func (f *fakeCollector) Close(ctx context.Context) error {
	if f.close == nil {
		return nil
	}
	return f.close(ctx)
}

// every schedules a collector with a timeout as long as its interval.
func every(interval time.Duration, f *fakeCollector) Scheduled {
	return Scheduled{Collector: f, Interval: interval, Timeout: interval}
}

// running is a Runner whose Run has been called.
type running struct {
	*Runner
	cancel context.CancelFunc
	result chan error
}

// start must be called in a synctest bubble: time passes only when everything waits, and the bubble fails the test
// if a goroutine is left over.
func start(ctx context.Context, t *testing.T, collectors ...Scheduled) *running {
	t.Helper()
	runner, err := NewRunner(RunnerOptions{
		Collectors:   collectors,
		Registerer:   prometheus.NewRegistry(),
		Rand:         rand.New(rand.NewPCG(1, 2)),
		DrainTimeout: testDrain,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	r := &running{Runner: runner, cancel: cancel, result: make(chan error, 1)}
	go func() { r.result <- runner.Run(ctx) }()
	return r
}

func (r *running) stop() error {
	r.cancel()
	return <-r.result
}

// rounds returns how many rounds of the named collector had the result.
func (r *running) rounds(t *testing.T, name, result string) int {
	t.Helper()
	return int(testutil.ToFloat64(r.worker(t, name).metrics.rounds[result]))
}

func (r *running) worker(t *testing.T, name string) *worker {
	t.Helper()
	i := slices.IndexFunc(r.workers, func(w *worker) bool { return w.name == name })
	if i < 0 {
		t.Fatalf("no worker %q", name)
	}
	return r.workers[i]
}

func TestRunnerKeepsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 10 * time.Second
		var starts []time.Time
		begin := time.Now()
		r := start(t.Context(), t, every(interval, &fakeCollector{name: "a", collect: func(ctx context.Context, now time.Time) error {
			if deadline, ok := ctx.Deadline(); !ok || !deadline.Equal(now.Add(interval)) {
				t.Errorf("deadline %v, %t; want one timeout after %v", deadline, ok, now)
			}
			starts = append(starts, now)
			time.Sleep(3 * time.Second)
			return nil
		}}))
		time.Sleep(100 * time.Second)
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}

		if first := starts[0].Sub(begin); first < 0 || first > maxFirstDelay {
			t.Errorf("first round after %s, want at most %s", first, maxFirstDelay)
		}
		gaps := map[time.Duration]bool{}
		for i, s := range starts[1:] {
			gap := s.Sub(starts[i])
			gaps[gap] = true
			if gap < 9*time.Second || gap > 11*time.Second {
				t.Errorf("round %d came %s after the one before, want 9s to 11s: the round's own 3s do not count", i+1, gap)
			}
		}
		// 100s hold at least (100s - 5s) / 11s = 8 whole gaps.
		if len(starts) < 9 || len(gaps) < 5 {
			t.Errorf("%d rounds with %d different gaps in 100s, want about 10 and varied gaps", len(starts), len(gaps))
		}
	})
}

func TestRunnerKeepsCollectorsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ctx := ktesting.NewTestContext(t)
		r := start(ctx, t,
			every(time.Second, &fakeCollector{name: "good"}),
			every(time.Second, &fakeCollector{name: "failing", collect: func(context.Context, time.Time) error {
				return errors.New("no such disk")
			}}),
			every(time.Second, &fakeCollector{name: "panicking", collect: func(context.Context, time.Time) error {
				panic("assignment to entry in nil map")
			}}),
			every(time.Second, &fakeCollector{name: "hanging", collect: func(ctx context.Context, _ time.Time) error {
				<-ctx.Done()
				return ctx.Err()
			}}),
		)
		time.Sleep(60 * time.Second)
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}

		// The hanging collector's rounds take one interval, so that every second one is missed.
		for name, want := range map[string]struct {
			result  string
			atLeast int
		}{
			"good":      {resultSuccess, 54},
			"failing":   {resultError, 54},
			"panicking": {resultPanic, 54},
			"hanging":   {resultTimeout, 27},
		} {
			for _, result := range []string{resultSuccess, resultError, resultTimeout, resultPanic} {
				got := r.rounds(t, name, result)
				if result == want.result && got < want.atLeast || result != want.result && got != 0 {
					t.Errorf("%s: %d rounds with result %s, want at least %d %s only", name, got, result, want.atLeast, want.result)
				}
			}
		}
		if got := testutil.ToFloat64(r.worker(t, "failing").metrics.lastSuccess); got != 0 {
			t.Errorf("last success of a collector that only failed = %v, want 0", got)
		}
		last := testutil.ToFloat64(r.worker(t, "good").metrics.lastSuccess)
		if age := float64(time.Now().Unix()) - last; age < 0 || age > 2 {
			t.Errorf("last success of a good collector is %vs ago, want at most 2", age)
		}
	})
}

func TestRunnerNeverPilesUpRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := false
		slow := &fakeCollector{name: "slow", collect: func(ctx context.Context, _ time.Time) error {
			if busy {
				t.Error("a round began before the one before had ended")
			}
			busy = true
			defer func() { busy = false }()
			if !sleep(ctx, 35*time.Second) {
				return ctx.Err()
			}
			return nil
		}}
		r := start(t.Context(), t, Scheduled{Collector: slow, Interval: 10 * time.Second, Timeout: time.Minute})
		time.Sleep(10 * time.Minute)
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}

		rounds := r.rounds(t, "slow", resultSuccess)
		missed := int(testutil.ToFloat64(r.worker(t, "slow").metrics.missed))
		// A round and the full interval after it take 44s to 46s: about 600 / 45 = 13 in ten minutes. Each misses
		// the rounds due after 10s, 20s and 30s; the stop may cut one short that has missed some already.
		if rounds < 12 || rounds > 14 || missed < 3*rounds || missed > 3*rounds+3 {
			t.Errorf("%d rounds and %d missed, want 12 to 14 and three missed for each", rounds, missed)
		}
	})
}

func TestReadyAfterTheFirstRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := start(t.Context(), t,
			every(time.Minute, &fakeCollector{name: "failing", collect: func(context.Context, time.Time) error { return errors.New("broken") }}),
			every(time.Minute, &fakeCollector{name: "slow", collect: func(context.Context, time.Time) error { <-release; return nil }}),
			every(time.Minute, &fakeCollector{name: "quick"}),
		)
		if err := r.Ready(nil); err == nil || !strings.HasSuffix(err.Error(), ": failing, slow, quick") {
			t.Errorf("Ready() at the start = %v, want one that waits for all", err)
		}
		time.Sleep(6 * time.Second)
		if err := r.Ready(nil); err == nil || !strings.HasSuffix(err.Error(), ": slow") {
			t.Errorf("Ready() after 6s = %v, want one that waits for the slow collector only", err)
		}
		close(release)
		synctest.Wait()
		if err := r.Ready(nil); err != nil {
			t.Errorf("Ready() after all first rounds = %v, want nil, though one failed", err)
		}
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
	})
}

func TestLiveUntilARoundIgnoresItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := start(t.Context(), t,
			every(time.Second, &fakeCollector{name: "deaf", collect: func(context.Context, time.Time) error { <-release; return nil }}),
			every(time.Second, &fakeCollector{name: "good"}),
		)
		// Stuck 61s after a start within the first second.
		time.Sleep(60 * time.Second)
		if err := r.Live(nil); err != nil {
			t.Errorf("Live() after 60s = %v, want nil: the grace is not over", err)
		}
		time.Sleep(3 * time.Second)
		if err := r.Live(nil); err == nil || !strings.HasSuffix(err.Error(), ": deaf") {
			t.Errorf("Live() after 63s = %v, want an error that names the collector", err)
		}
		if got := r.rounds(t, "good", resultSuccess); got < 55 {
			t.Errorf("%d rounds of the other collector, want about 60", got)
		}
		close(release)
		synctest.Wait()
		if err := r.Live(nil); err != nil {
			t.Errorf("Live() once the round has ended = %v, want nil", err)
		}
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
	})
}
