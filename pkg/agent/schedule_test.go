package agent

import (
	"testing"
	"time"
)

func TestNextDelay(t *testing.T) {
	tests := []struct {
		name       string
		interval   time.Duration
		elapsed    time.Duration
		u          float64
		wantWait   time.Duration
		wantMissed int
	}{
		// 10s x (1 - 0.1 + 0.2 x 0.5) = 10s; 10s - 1s = 9s
		{name: "the middle of the range keeps the interval", interval: 10 * time.Second, elapsed: time.Second, u: .5, wantWait: 9 * time.Second},
		// 10s x 0.9 = 9s; 9s - 1s = 8s
		{name: "the shortest interval", interval: 10 * time.Second, elapsed: time.Second, u: 0, wantWait: 8 * time.Second},
		// 10s x (0.9 + 0.2 x 0.75) = 10.5s
		{name: "a longer interval", interval: 10 * time.Second, u: .75, wantWait: 10500 * time.Millisecond},
		// The next round was due after 9s, and none has been due since.
		{name: "late by less than the variation", interval: 10 * time.Second, elapsed: 9500 * time.Millisecond, u: 0, wantWait: 9 * time.Second, wantMissed: 1},
		// Rounds were due at 10s and 20s.
		{name: "two rounds missed", interval: 10 * time.Second, elapsed: 25 * time.Second, u: .5, wantWait: 10 * time.Second, wantMissed: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wait, missed := nextDelay(tt.interval, tt.elapsed, tt.u)
			if wait.Round(time.Microsecond) != tt.wantWait || missed != tt.wantMissed {
				t.Errorf("nextDelay() = %s and %d missed, want %s and %d missed", wait, missed, tt.wantWait, tt.wantMissed)
			}
		})
	}
}

func TestFirstDelayIsBounded(t *testing.T) {
	tests := []struct {
		name     string
		interval time.Duration
		u        float64
		want     time.Duration
	}{
		{name: "nothing", interval: time.Hour, u: 0, want: 0},
		{name: "half of a short interval", interval: 2 * time.Second, u: .5, want: time.Second},
		{name: "half of five seconds", interval: time.Hour, u: .5, want: 2500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := firstDelay(tt.interval, tt.u); got != tt.want {
				t.Errorf("firstDelay() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStuckAfter(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		time.Second:     61 * time.Second, // one minute beyond the timeout
		2 * time.Minute: 6 * time.Minute,  // three timeouts
	} {
		if got := stuckAfter(timeout); got != want {
			t.Errorf("stuckAfter(%s) = %s, want %s", timeout, got, want)
		}
	}
}
