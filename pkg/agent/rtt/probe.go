package rtt

import (
	"context"
	"net/netip"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// burst says how the probes of one round to one target are sent.
type burst struct {
	// count is how many, at least 1.
	count int
	// spacing is the time from one to the next, more than 0.
	spacing time.Duration
	// timeout is how long the answer to one may take.
	timeout time.Duration
	// bytes is how long a probe is: the payload of its IP packet, without the header of ICMP or UDP.
	bytes int
}

// lasts is how long the burst takes at most.
func (b burst) lasts() time.Duration { return time.Duration(b.count-1)*b.spacing + b.timeout }

// outcome is what became of a burst.
type outcome struct {
	// sent counts the probes that left, or that could not leave because the network is not reachable.
	sent int
	// answered holds the round-trip times of those that were answered in time, each by the clock of this process that
	// also saw the probe leave.
	answered []time.Duration
	// coordinate is the target's, if it told one.
	coordinate delay.Coordinate
}

// method is a way to measure a round-trip time to an address.
type method interface {
	// probe sends a burst. The error tells that nothing could be measured at all, for a reason on this side; a target
	// that does not answer is no error. What was measured before ctx ended counts.
	probe(ctx context.Context, to netip.Addr, b burst) (outcome, error)
}

// inTime leaves out what took longer than it may, and what no clock can have shown.
func inTime(times []time.Duration, timeout time.Duration) []time.Duration {
	kept := make([]time.Duration, 0, len(times))
	for _, rtt := range times {
		if rtt >= 0 && rtt <= timeout {
			kept = append(kept, rtt)
		}
	}
	return kept
}

// pause waits for d. It returns false, at once, when ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
