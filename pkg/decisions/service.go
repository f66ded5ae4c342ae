package decisions

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

// Options is what the service runs with. All fields are required.
type Options struct {
	// Health serves /healthz, /readyz and /metrics. Run closes it.
	Health net.Listener
}

// Run is the service: it serves until ctx ends, then lets running requests finish and returns nil. An error tells why
// it could not start or why it ended early.
func Run(ctx context.Context, o Options) error {
	registry, err := health.NewRegistry()
	if err != nil {
		return errors.Join(err, o.Health.Close())
	}
	mux := http.NewServeMux()
	health.Register(mux, nil, health.Checks{"not-stopping": health.NotStopping(ctx)})
	health.RegisterMetrics(mux, registry)
	return health.Serve(ctx, "health", o.Health, mux)
}
