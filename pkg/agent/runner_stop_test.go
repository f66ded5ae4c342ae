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
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

func TestStopCancelsTheRoundThenCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		r := start(t.Context(), t, every(time.Hour, &fakeCollector{
			name: "a",
			collect: func(ctx context.Context, _ time.Time) error {
				<-ctx.Done()
				time.Sleep(time.Second)
				calls = append(calls, "collect ended")
				return ctx.Err()
			},
			close: func(ctx context.Context) error {
				if ctx.Err() != nil {
					t.Error("the context of Close has ended already")
				}
				calls = append(calls, "closed")
				return nil
			},
		}))
		time.Sleep(10 * time.Second)
		begin := time.Now()
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
		if want := []string{"collect ended", "closed"}; !slices.Equal(calls, want) {
			t.Errorf("calls %q, want %q", calls, want)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("stopping took %s, want the second that the round needed", took)
		}
		if got := r.rounds(t, "a", resultTimeout) + r.rounds(t, "a", resultError); got != 0 {
			t.Errorf("%d failures counted, want none: the stop is not the collector's failure", got)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := start(t.Context(), t,
			every(time.Second, &fakeCollector{name: "deaf", collect: func(context.Context, time.Time) error { <-release; return nil }}),
			every(time.Second, &fakeCollector{name: "good"}),
		)
		time.Sleep(5 * time.Second)
		begin := time.Now()
		err := r.stop()
		if took := time.Since(begin); took != testDrain {
			t.Errorf("stopping took %s, want the drain timeout of %s", took, testDrain)
		}
		const want = "collectors that did not stop within 10s: deaf"
		if err == nil || err.Error() != want {
			t.Errorf("Run() = %v, want %s", err, want)
		}
		close(release)
	})
}

func TestStopReportsWhatCouldNotBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t,
			every(time.Second, &fakeCollector{name: "failing", close: func(context.Context) error { return errors.New("file is busy") }}),
			every(time.Second, &fakeCollector{name: "panicking", close: func(context.Context) error { panic("oops") }}),
			every(time.Second, &fakeCollector{name: "good"}),
		)
		synctest.Wait()
		err := r.stop()
		for _, want := range []string{`cannot close collector "failing": file is busy`, `cannot close collector "panicking": panic: oops`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Run() = %v, want it to contain %s", err, want)
			}
		}
	})
}

func TestRunnerWithoutCollectorsIsReadyAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t)
		synctest.Wait()
		if err := errors.Join(r.Ready(nil), r.Live(nil), r.stop()); err != nil {
			t.Errorf("Ready, Live, Run = %v, want nil", err)
		}
	})
}

func TestFailuresAreLoggedSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
		rounds := 0
		r := start(klog.NewContext(t.Context(), logger), t, every(time.Second, &fakeCollector{
			name: "flaky",
			collect: func(ctx context.Context, _ time.Time) error {
				klog.FromContext(ctx).Info("Round")
				if rounds++; rounds <= 100 {
					return errors.New("no route")
				}
				return nil
			},
		}))
		time.Sleep(150 * time.Second)
		if err := r.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}

		log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		// The 1st, 2nd, 4th ... 64th of 100 failures in a row.
		if got := strings.Count(log, " Collector failed "); got != 7 {
			t.Errorf("%d lines tell of failures, want 7 of 100\n%s", got, log)
		}
		if got := strings.Count(log, `Collector works again collector="flaky" failedRounds=100`); got != 1 {
			t.Errorf("%d lines tell of the recovery, want 1\n%s", got, log)
		}
		if !strings.Contains(log, `Round collector="flaky"`) {
			t.Errorf("the logger in the collector's context does not carry its name\n%s", log)
		}
	})
}

func TestNewRunnerRefusesNonsense(t *testing.T) {
	valid := every(time.Second, &fakeCollector{name: "a"})
	tests := []struct {
		name   string
		change func(*RunnerOptions)
		want   string
	}{
		{
			name:   "a collector twice",
			change: func(o *RunnerOptions) { o.Collectors = []Scheduled{valid, valid} },
			want:   `collector "a" is scheduled twice`,
		},
		{
			name:   "no interval",
			change: func(o *RunnerOptions) { o.Collectors[0].Interval = 0 },
			want:   "expected an interval and a timeout above 0, found 0s and 1s",
		},
		{
			name:   "no time to drain",
			change: func(o *RunnerOptions) { o.DrainTimeout = 0 },
			want:   "expected a drain timeout above 0, found 0s",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := RunnerOptions{
				Collectors:   []Scheduled{valid},
				Registerer:   prometheus.NewRegistry(),
				Rand:         rand.New(rand.NewPCG(1, 2)),
				DrainTimeout: testDrain,
			}
			tt.change(&o)
			if _, err := NewRunner(o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewRunner() = %v, want an error with %q", err, tt.want)
			}
		})
	}
}
