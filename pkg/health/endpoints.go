package health

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

// maxConcurrentScrapes bounds what a monitoring system gone wild can cost; Prometheus needs one.
const maxConcurrentScrapes = 4

// Checks are health checks by name. A name is a path segment: lower case words joined by hyphens.
// A check must return at once and be safe for concurrent use.
type Checks map[string]healthz.Checker

// Register adds GET /healthz, answered by live, and GET /readyz, answered by ready, to mux.
// Without checks an endpoint answers 200 for as long as the process can answer at all.
func Register(mux *http.ServeMux, live, ready Checks) {
	for path, checks := range map[string]Checks{"/healthz": live, "/readyz": ready} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		mux.Handle("GET "+path, handler)
		mux.Handle("GET "+path+"/", handler)
	}
}

// RegisterMetrics adds GET /metrics, which exposes what g gathers, to mux.
func RegisterMetrics(mux *http.ServeMux, g prometheus.Gatherer) {
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxConcurrentScrapes,
		EnableOpenMetrics:   true,
	}))
}

// NotStopping is a readiness check that fails as soon as ctx ends, so that nothing new is sent to
// a process that is draining.
func NotStopping(ctx context.Context) healthz.Checker {
	return func(*http.Request) error {
		if ctx.Err() != nil {
			return fmt.Errorf("the process is stopping: %w", context.Cause(ctx))
		}
		return nil
	}
}

// NewRegistry returns a registry of its own with the metrics that every process has: those of the
// Go runtime, those of the operating system's process, and vicinity_build_info.
func NewRegistry() (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	err := errors.Join(
		registry.Register(collectors.NewGoCollector()),
		registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
		RegisterBuildInfo(registry),
	)
	if err != nil {
		return nil, fmt.Errorf("cannot register the process metrics: %w", err)
	}
	return registry, nil
}

// RegisterBuildInfo adds the gauge vicinity_build_info, which is always 1 and carries the version
// of Vicinity and of Go as labels. A registry that has it already is left as it is: the registry
// of controller-runtime is one for the process, however many managers are made.
func RegisterBuildInfo(r prometheus.Registerer) error {
	info := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "vicinity_build_info",
		Help:        "Always 1; the labels tell which version of Vicinity this is, and the Go release that built it.",
		ConstLabels: prometheus.Labels{"version": version.String(), "goversion": runtime.Version()},
	}, func() float64 { return 1 })

	if err := r.Register(info); err != nil && !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		return fmt.Errorf("cannot register vicinity_build_info: %w", err)
	}
	return nil
}
