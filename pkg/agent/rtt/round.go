package rtt

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

const (
	// A quarter of a round belongs to the report, but not more than maxReportTime.
	reportPart    = 4
	maxReportTime = 3 * time.Second
	// defaultRound is how long a round without a deadline lasts.
	defaultRound = 10 * time.Second
	// maxSpread bounds the time over which the targets of a round are spread.
	maxSpread = 10 * time.Second
	// maxSpacing is the time between two probes to one target, unless a round is too short for it.
	maxSpacing = 100 * time.Millisecond
	// spacingVaries is by how much of itself that time is varied, so that probes fall into no rhythm of the network.
	spacingVaries = 0.4

	// An endpoint is probed once in endpointPeriod by a small cluster, and less often by a large one: all nodes together
	// probe it once in endpointGap.
	endpointPeriod = time.Minute
	endpointGap    = 20 * time.Millisecond

	// referenceRate is how many probes a second a node gets that bounds refer to, from all others together: half of what its
	// echo answers by default. From 6,000 nodes on, with the default probes and rounds, each probes it less often.
	referenceRate = 2500
)

// plan is when the probes of a round are sent.
type plan struct {
	burst  burst
	spread time.Duration
	// targets is how many targets can have their burst.
	targets int
}

// planRound divides the time that a round has.
func (c *Collector) planRound(ctx context.Context) plan {
	has := defaultRound
	if deadline, ok := ctx.Deadline(); ok {
		has = time.Until(deadline)
	}
	has = max(0, has-min(has/reportPart, maxReportTime))
	count := int(c.config.ProbesPerRound)
	b := burst{count: count, timeout: min(c.config.ProbeTimeout.Duration, has/2), bytes: int(c.config.PacketBytes)}
	b.spacing = max(time.Millisecond, min(maxSpacing, (has-b.timeout)/time.Duration(2*count)))
	spread := min(maxSpread, max(0, has-b.lasts()))
	// The echo that brings the coordinate is one more.
	return plan{burst: b, spread: spread, targets: max(1, int(c.limit.Limit())*int(has.Milliseconds())/1000/(count+1))}
}

// due returns the paths that this round probes, those first that have waited longest.
func (c *Collector) due(now time.Time, most int) []*path {
	var paths []*path
	probers := c.list.list.Probers()
	gap := time.Second * time.Duration(probers*int(c.config.ProbesPerRound+1)) / referenceRate
	for _, p := range c.nodes {
		if p.current && (!p.reference || now.Sub(p.probedAt) >= gap) {
			paths = append(paths, p)
		}
	}
	period := max(endpointPeriod, time.Duration(probers)*endpointGap)
	for _, p := range c.endpoints {
		switch {
		case !p.current:
		case p.probedAt.IsZero() && !p.known():
			// The first time comes at random within the period, or all nodes would begin at once. A quarter of it is
			// enough for that, and somebody may be waiting.
			p.probedAt = now.Add(-period + time.Duration(c.rand.Int64N(int64(period/4))))
		}
		if p.current && now.Sub(p.probedAt) >= period {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, func(a, b *path) int {
		return cmp.Or(a.probedAt.Compare(b.probedAt), cmp.Compare(a.name, b.name))
	})
	c.metrics.deferred.Set(float64(max(0, len(paths)-most)))
	return paths[:min(most, len(paths))]
}

// measure probes what is due, each target at a random time within the round.
func (c *Collector) measure(ctx context.Context, now time.Time) error {
	if c.list.list == nil {
		return nil
	}
	start := time.Now()
	p := c.planRound(ctx)
	round := c.due(now, p.targets)
	var group sync.WaitGroup
	faults := make([]error, len(round))
	for i, target := range round {
		offset := time.Duration(0)
		if p.spread > 0 {
			offset = time.Duration(c.rand.Int64N(int64(p.spread)))
		}
		b := p.burst
		b.spacing = time.Duration(float64(b.spacing) * (1 - spacingVaries*c.rand.Float64()))
		target.probedAt, target.nearest = now, lost
		group.Go(func() {
			faults[i] = c.measureOne(ctx, target, b, offset, func() time.Time { return now.Add(time.Since(start)) })
		})
	}
	group.Wait()
	c.observe(ctx, round)
	for i, fault := range faults {
		if fault != nil && !errors.Is(fault, errNoToken) {
			klog.FromContext(ctx).V(4).Info("Could not probe", "target", round[i].name, "reason", fault)
		}
	}
	return foremost(faults)
}

// measureOne runs in a goroutine of its own.
func (c *Collector) measureOne(ctx context.Context, p *path, b burst, offset time.Duration, clock func() time.Time) error {
	if !pause(ctx, offset) {
		return nil
	}
	if err := c.limit.WaitN(ctx, b.count+1); err != nil {
		return nil //nolint:nilerr // the round ends before its turn comes: it is among the first of the next
	}
	var m measured
	var err error
	if p.endpoint {
		m, err = c.methods.measureEndpoint(ctx, p.name, b)
	} else {
		m, err = c.methods.measureNode(ctx, p, b)
	}
	if err != nil {
		c.metrics.faults.Inc()
		return err
	}
	if ctx.Err() != nil {
		// What was under way when the round was cut off is not lost.
		m.sent = len(m.answered)
	}
	c.metrics.probes(m)
	p.take(clock(), c.config.Window.Duration, m.outcome)
	return nil
}

// foremost returns one of the errors for all: a thousand targets fail for one reason, mostly.
func foremost(faults []error) error {
	for _, fault := range faults {
		if fault != nil {
			return fault
		}
	}
	return nil
}

// oldest returns the n paths that were probed least lately.
func oldest(paths []*path, n int) []*path {
	if n <= 0 {
		return nil
	}
	slices.SortFunc(paths, func(a, b *path) int { return cmp.Or(a.probedAt.Compare(b.probedAt), cmp.Compare(a.name, b.name)) })
	return paths[:n]
}
