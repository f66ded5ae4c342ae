package datasets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
)

const (
	// turn is the number of steps after which it is the next root's turn, so that a large root does not hold up the
	// others.
	turn = 4096

	// The end of each round belongs to the report: a quarter of it, but not more than maxReportTime.
	reportPart    = 4
	maxReportTime = 5 * time.Second
)

// Collector is the datasets collector. The package comment says what it does.
type Collector struct {
	roots []*root
	// first is the root whose turn it is first in the next round.
	first    int
	pace     *pace
	reporter *reporter
	metrics  *metrics

	// inherited is what an earlier agent reported, and hasInherited whether that was asked for.
	inherited    map[key]observation
	hasInherited bool
}

// Name implements agent.Collector.
func (c *Collector) Name() string { return Name }

// Collect implements agent.Collector: it walks on for as long as the round lasts, then reports if there is news.
func (c *Collector) Collect(ctx context.Context, now time.Time) error {
	walkErr := c.walk(ctx, now)
	if err := ctx.Err(); err != nil {
		return errors.Join(walkErr, err)
	}
	return errors.Join(walkErr, c.report(ctx, now))
}

// Close implements agent.Collector.
func (c *Collector) Close(context.Context) error {
	errs := make([]error, 0, len(c.roots))
	for _, r := range c.roots {
		errs = append(errs, r.close())
	}
	c.reporter.store.Close()
	return errors.Join(errs...)
}

// walk goes on with the walks of all roots, in turns, until each has come to an end once or the time is up.
func (c *Collector) walk(ctx context.Context, now time.Time) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-min(deadline.Sub(now)/reportPart, maxReportTime)))
		defer cancel()
	}
	var errs []error
	ended := make([]bool, len(c.roots))
	for left := len(c.roots); left > 0; {
		i := c.first
		c.first = (c.first + 1) % len(c.roots)
		if ended[i] {
			continue
		}
		result, err := c.roots[i].advance(ctx, now, c.pace, turn)
		switch {
		case result == paused:
			return errors.Join(errs...)
		case result == finished:
			ended[i] = true
			left--
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// report tells the API server what is known, if that is due.
func (c *Collector) report(ctx context.Context, now time.Time) error {
	if !c.reporter.schedule.MayTry(now) {
		return c.reporter.schedule.Failure()
	}
	if err := c.inherit(ctx, now); err != nil {
		return err
	}
	all := known(c.roots, c.inherited)
	list, omitted := entries(all)
	c.metrics.observe(all, omitted)

	reason, err := c.reporter.report(ctx, list, now)
	if err != nil || reason == "" {
		return err
	}
	c.metrics.reports[reason].Inc()
	klog.FromContext(ctx).V(4).Info("Reported the cached datasets", "reason", reason, "datasets", len(list), "omitted", omitted)
	return nil
}

// inherit asks once for the report of an earlier agent: without it, a restart would make everything vanish that this
// agent has not counted yet.
func (c *Collector) inherit(ctx context.Context, now time.Time) error {
	if c.hasInherited {
		return nil
	}
	status, err := c.reporter.store.Read(ctx)
	if err != nil {
		c.reporter.schedule.Attempt(now)
		return c.reporter.schedule.Done(now, fmt.Errorf("cannot read the report of an earlier agent: %w", err))
	}
	c.hasInherited = true
	if status == nil {
		return nil
	}
	c.inherited = make(map[key]observation, len(status.Datasets))
	for _, entry := range status.Datasets {
		c.inherited[keyOf(entry)] = observation{bytes: entry.CachedBytes, at: entry.ObservedAt.Time}
	}
	return nil
}
