package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

// LeaseName is the name of the Lease by which the replicas elect their leader.
const LeaseName = "vicinity-controller"

const (
	// shutdownTimeout bounds how long reconcilers may finish what they are doing.
	shutdownTimeout = 20 * time.Second

	// syncCheckTimeout keeps the readiness check short: it asks, it does not wait.
	syncCheckTimeout = 100 * time.Millisecond
)

// Setup adds one reconciler, or whatever else is to run, to the manager. The ctx ends when the controller stops.
type Setup func(ctx context.Context, m manager.Manager) error

// Options is what the controller runs with. All fields but Setups are required.
type Options struct {
	// Namespace holds the Lease.
	Namespace string
	// HealthAddress is where /healthz and /readyz are served: host:port or :port.
	HealthAddress string
	// MetricsAddress is where /metrics is served: host:port or :port.
	MetricsAddress string
	// LeaderElect makes the reconcilers wait until this replica leads.
	LeaderElect bool
	// Setups add the reconcilers, in this order.
	Setups []Setup
}

// Run is the controller: it makes the manager and runs it until ctx ends, then drains and returns nil. An error
// tells why it could not start or why it ended early.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	config = rest.CopyConfig(config)
	config.UserAgent = LeaseName + "/" + version.String()
	config.QPS = -1 // the API server shares itself out, by priority and fairness; reconcilers bound what they write
	err := awaitAPIServer(ctx, config, apiServerTimeout)
	if stopping(ctx) {
		return nil // whatever it was waiting for
	}
	if err != nil {
		return err
	}
	m, err := New(ctx, config, o)
	if err != nil {
		return err
	}
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("the controller manager ended: %w", err)
	}
	return nil
}

func stopping(ctx context.Context) bool { return ctx.Err() != nil }

// New makes the manager, with everything that Setups add, ready to start. It opens the health address, and asks the API
// server which kinds there are.
func New(ctx context.Context, config *rest.Config, o Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), diskiov1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("cannot register the types: %w", err)
	}
	if err := health.RegisterBuildInfo(crmetrics.Registry); err != nil {
		return nil, err
	}
	m, err := manager.New(config, managerOptions(ctx, scheme, o))
	if err != nil {
		return nil, fmt.Errorf("cannot make the controller manager: %w", err)
	}
	if err := addChecks(ctx, m); err != nil {
		return nil, fmt.Errorf("cannot add the health checks: %w", err)
	}
	for i, setup := range o.Setups {
		if err := setup(ctx, m); err != nil {
			return nil, fmt.Errorf("cannot set up reconciler %d of %d: %w", i+1, len(o.Setups), err)
		}
	}
	return m, nil
}

func managerOptions(ctx context.Context, scheme *runtime.Scheme, o Options) manager.Options {
	timeout := shutdownTimeout
	return manager.Options{
		Scheme:                  scheme,
		Logger:                  klog.FromContext(ctx),
		Cache:                   cacheOptions(),
		Metrics:                 metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress:  o.HealthAddress,
		LeaderElection:          o.LeaderElect,
		LeaderElectionID:        LeaseName,
		LeaderElectionNamespace: o.Namespace,
		// Safe because the process ends when the manager does.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
		// The manager stops what it runs in an order of its own, so it must not all end with ctx.
		BaseContext: func() context.Context { return context.WithoutCancel(ctx) },
	}
}

func addChecks(ctx context.Context, m manager.Manager) error {
	synced := func(request *http.Request) error {
		checkCtx, cancel := context.WithTimeout(request.Context(), syncCheckTimeout)
		defer cancel()
		if !m.GetCache().WaitForCacheSync(checkCtx) {
			return errors.New("the caches are not synchronised with the API server")
		}
		return nil
	}
	return errors.Join(
		m.AddHealthzCheck("ping", healthz.Ping),
		m.AddReadyzCheck("caches-synced", synced),
		m.AddReadyzCheck("not-stopping", health.NotStopping(ctx)),
	)
}
