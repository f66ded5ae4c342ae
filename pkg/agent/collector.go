package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// Collector measures one aspect of the node. The Runner calls the methods of one collector from one goroutine at a
// time, in this order: Collect as often as the schedule says, then Close once. Different collectors run
// concurrently.
type Collector interface {
	// Name is the name by which the configuration, the metrics and the log know the collector. It never changes.
	// It may be called at any time, also concurrently.
	Name() string

	// Collect does one round: it measures and, if there is something new, publishes it. It MUST return soon after
	// ctx ends, which it does at the round's timeout and when the agent stops. The error of such a round is
	// counted as a timeout, or not at all when the agent stops. Work that does not fit into a round is continued
	// in the next one.
	//
	// now is the time at which the round began and is what observations are dated with. The logger in ctx carries
	// the collector's name. An error is logged and counted by the caller and has no other effect: the next round
	// comes on schedule. A panic is treated like an error; a panic in a goroutine that the collector started
	// cannot be caught and ends the process. State that a panic may leave half changed is the collector's to
	// repair.
	Collect(ctx context.Context, now time.Time) error

	// Close releases what the collector holds, such as sockets and temporary files, and waits for goroutines of
	// its own. It is called once, after the last Collect has returned, also if no round ever ran. It MUST return
	// soon after ctx ends.
	Close(ctx context.Context) error
}

// Builder makes one kind of collector. The agent has one for each collector that it was built with.
type Builder struct {
	// Name is the name that the collector will have.
	Name string

	// New makes the collector. It is called once, when the agent starts, and only if the configuration enables
	// the collector. It must not block: what takes time belongs into Collect. The ctx ends when the agent stops.
	New func(ctx context.Context, o BuilderOptions) (Collector, error)
}

// BuilderOptions is what a collector may be made from.
type BuilderOptions struct {
	// NodeName is the name of the Node object of the machine that the agent runs on.
	NodeName string
	// Config is the whole configuration, defaulted and validated. It is read-only.
	Config *configv1.AgentConfiguration
	// Registerer takes the collector's own metrics.
	Registerer prometheus.Registerer
}

// Scheduled is a collector together with its schedule.
type Scheduled struct {
	Collector Collector
	// Interval is the time from the start of one round to the start of the next, before it is varied.
	Interval time.Duration
	// Timeout is the time after which a round is cancelled.
	Timeout time.Duration
}

// Names returns the names of the collectors that the builders make, in their order.
func Names(builders []Builder) []string {
	names := make([]string, 0, len(builders))
	for _, b := range builders {
		names = append(names, b.Name)
	}
	return names
}

// Build makes the collectors that the configuration enables, in its order. If one cannot be made, those made before
// it are closed.
func Build(ctx context.Context, builders []Builder, o BuilderOptions) ([]Scheduled, error) {
	byName := make(map[string]Builder, len(builders))
	for _, b := range builders {
		if _, ok := byName[b.Name]; ok {
			return nil, fmt.Errorf("two builders for collector %q, expected one", b.Name)
		}
		byName[b.Name] = b
	}

	built := make([]Scheduled, 0, len(o.Config.Collectors))
	for _, schedule := range o.Config.Collectors {
		collector, err := buildOne(ctx, byName, schedule.Name, o)
		if err != nil {
			return nil, errors.Join(err, closeAll(ctx, built))
		}
		built = append(built, Scheduled{
			Collector: collector,
			Interval:  schedule.Interval.Duration,
			Timeout:   schedule.Timeout.Duration,
		})
	}
	return built, nil
}

func buildOne(ctx context.Context, byName map[string]Builder, name string, o BuilderOptions) (Collector, error) {
	builder, ok := byName[name]
	if !ok {
		return nil, fmt.Errorf("there is no builder for collector %q; validate the configuration first", name)
	}
	collector, err := builder.New(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("cannot make collector %q: %w", name, err)
	}
	if got := collector.Name(); got != name {
		return nil, errors.Join(
			fmt.Errorf("the builder of collector %q made one that calls itself %q", name, got),
			collector.Close(ctx),
		)
	}
	return collector, nil
}

func closeAll(ctx context.Context, built []Scheduled) error {
	errs := make([]error, 0, len(built))
	for _, s := range built {
		if err := s.Collector.Close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("cannot close collector %q: %w", s.Collector.Name(), err))
		}
	}
	return errors.Join(errs...)
}
