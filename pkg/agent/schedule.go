package agent

import (
	"context"
	"time"
)

const (
	// jitter is the part of an interval by which it may be shorter or longer.
	jitter = 0.1

	// maxFirstDelay bounds how long a first round is held back. Long enough to spread agents that a roll-out
	// restarts together, short enough for readiness not to wait noticeably.
	maxFirstDelay = 5 * time.Second

	// A round is stuck when it still runs after stuckFactor timeouts, and at least stuckGrace beyond one. The grace
	// keeps a short hiccup of a busy node from restarting an agent whose timeouts are short.
	stuckFactor = 3
	stuckGrace  = time.Minute
)

// firstDelay returns the wait before the first round, for a random u in [0, 1).
func firstDelay(interval time.Duration, u float64) time.Duration {
	return time.Duration(u * float64(min(interval, maxFirstDelay)))
}

// nextDelay returns the wait between the end of a round that took elapsed and the start of the next, and how many
// rounds the interval would have had while that one ran, for a random u in [0, 1).
//
// A round that overran its interval is followed by a full one: starting at once would let a collector that is slow
// because the node is overloaded run without a pause.
func nextDelay(interval, elapsed time.Duration, u float64) (wait time.Duration, missed int) {
	varied := time.Duration(float64(interval) * (1 - jitter + 2*jitter*u))
	if elapsed < varied {
		return varied - elapsed, 0
	}
	return varied, max(1, int(elapsed/interval))
}

// stuckAfter returns for how long a round may run before the agent counts as broken.
func stuckAfter(timeout time.Duration) time.Duration {
	return max(stuckFactor*timeout, timeout+stuckGrace)
}

// sleep waits for d. It returns false, at once, when ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
