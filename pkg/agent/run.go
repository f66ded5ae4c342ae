package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

// drainTimeout leaves, of the 30 s that Kubernetes gives a pod to stop, enough for the HTTP servers after it.
const drainTimeout = 10 * time.Second

// Options is what the agent runs with. All fields are required; there may be no builders.
type Options struct {
	// NodeName is the name of the Node object of this machine.
	NodeName string
	// Config is defaulted and valid for the builders.
	Config *configv1.AgentConfiguration
	// Builders make the collectors that Config may enable.
	Builders []Builder
	// Health serves /healthz and /readyz. Run closes it.
	Health net.Listener
	// Metrics serves /metrics. Run closes it.
	Metrics net.Listener
	// Rand varies the schedules of the collectors.
	Rand *rand.Rand
}

// Run is the agent: it serves its endpoints and runs the enabled collectors until ctx ends, then drains and returns
// nil. An error tells why it could not start, why it ended early, or what it had to leave behind.
func Run(ctx context.Context, o Options) error {
	runner, registry, err := prepare(ctx, o)
	if err != nil {
		return errors.Join(err, o.Health.Close(), o.Metrics.Close())
	}

	probes, scrapes := http.NewServeMux(), http.NewServeMux()
	health.Register(probes,
		health.Checks{"collectors": runner.Live},
		health.Checks{"collectors": runner.Ready, "not-stopping": health.NotStopping(ctx)})
	health.RegisterMetrics(scrapes, registry)

	// The endpoints outlive the collectors: while these drain, probes must not find a dead process.
	serveCtx, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return health.Serve(serveCtx, "health", o.Health, probes) })
	group.Go(func() error { return health.Serve(serveCtx, "metrics", o.Metrics, scrapes) })
	group.Go(func() error {
		defer stopServing()
		return runner.Run(groupCtx)
	})
	return group.Wait()
}

// prepare makes everything that can fail before the first request is answered.
func prepare(ctx context.Context, o Options) (*Runner, *prometheus.Registry, error) {
	registry, err := health.NewRegistry()
	if err != nil {
		return nil, nil, err
	}
	collectors, err := Build(ctx, o.Builders, BuilderOptions{NodeName: o.NodeName, Config: o.Config, Registerer: registry})
	if err != nil {
		return nil, nil, err
	}
	runner, err := NewRunner(RunnerOptions{
		Collectors:   collectors,
		Registerer:   registry,
		Rand:         o.Rand,
		DrainTimeout: drainTimeout,
	})
	if err != nil {
		return nil, nil, errors.Join(err, closeAll(ctx, collectors))
	}
	klog.FromContext(ctx).Info("Prepared the collectors",
		"node", o.NodeName, "enabled", len(collectors), "available", Names(o.Builders))
	return runner, registry, nil
}
