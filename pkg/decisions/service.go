package decisions

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/ingest"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/watch"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/web"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

const (
	// retentionEvery is how often old decisions are removed.
	retentionEvery = 10 * time.Minute
	// pingTimeout bounds the readiness check.
	pingTimeout = 3 * time.Second
)

// Options is what the service runs with.
type Options struct {
	// Database is where decisions are kept; see store.Open. Retention says for how long.
	Database  string
	Retention store.Retention
	// Health serves /healthz, /readyz and /metrics. Run closes it and the other listeners.
	Health net.Listener
	// Ingest takes records; IngestTLS secures it. Legacy, which may be nil, takes events of the predecessor's clients.
	Ingest    net.Listener
	IngestTLS *ingest.TLS
	Legacy    net.Listener
	// Kubernetes is the API server that is watched and that tells who may see what. Nil: neither watcher nor HTTP.
	Kubernetes *rest.Config
	// HTTP, which may be nil, serves questions and the page. HTTPTLS secures it; nil does not.
	HTTP    net.Listener
	HTTPTLS *ServerTLS
}

// ServerTLS names the files of a server's certificate. They are read again when they change.
type ServerTLS struct {
	CertFile, KeyFile string
}

// listeners are all that there are.
func (o *Options) listeners() []net.Listener {
	var out []net.Listener
	for _, ln := range []net.Listener{o.Health, o.Ingest, o.Legacy, o.HTTP} {
		if ln != nil {
			out = append(out, ln)
		}
	}
	return out
}

// Run is the service: it serves until ctx ends, then lets running requests finish and returns nil. An error tells why
// it could not start or why it ended early.
func Run(ctx context.Context, o Options) (err error) {
	defer func() {
		// Whoever serves a listener closes it; these are for a start that failed. A second close does no harm.
		for _, ln := range o.listeners() {
			_ = ln.Close()
		}
	}()
	registry, err := health.NewRegistry()
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, o.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHealth(ctx, o.Health, registry, db) })
	group.Go(func() error {
		return ingest.Serve(ctx, ingest.Options{
			Store: db, Clock: clock.RealClock{}, Registerer: registry, Listener: o.Ingest, TLS: o.IngestTLS, Legacy: o.Legacy,
		})
	})
	group.Go(func() error {
		retain(ctx, db, o.Retention)
		return nil
	})
	if o.Kubernetes != nil {
		group.Go(func() error { return withKubernetes(ctx, o, db, registry) })
	}
	return group.Wait()
}

func serveHealth(ctx context.Context, ln net.Listener, registry *prometheus.Registry, db *store.Store) error {
	mux := http.NewServeMux()
	health.Register(mux, nil, health.Checks{
		"not-stopping": health.NotStopping(ctx),
		"database": func(r *http.Request) error {
			ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
			defer cancel()
			return db.Ping(ctx)
		},
	})
	health.RegisterMetrics(mux, registry)
	return health.Serve(ctx, "health", ln, mux)
}

// retain removes what is old until ctx ends.
func retain(ctx context.Context, db *store.Store, r store.Retention) {
	ticker := time.NewTicker(retentionEvery)
	defer ticker.Stop()
	for {
		removed, err := db.Enforce(ctx, time.Now(), r)
		switch logger := klog.FromContext(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			logger.Error(err, "Old decisions could not be removed, trying again later")
		case removed > 0:
			logger.Info("Removed old decisions", "decisions", removed)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// withKubernetes runs what needs the API server.
func withKubernetes(ctx context.Context, o Options, db *store.Store, registry *prometheus.Registry) error {
	client, err := kubernetes.NewForConfig(o.Kubernetes)
	if err != nil {
		return fmt.Errorf("making a client for the API server at %s: %w", o.Kubernetes.Host, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return watch.Run(ctx, watch.Options{Client: client, Store: db, Clock: clock.RealClock{}, Registerer: registry})
	})
	if o.HTTP != nil {
		group.Go(func() error { return serveHTTP(ctx, o, db, client) })
	}
	return group.Wait()
}

func serveHTTP(ctx context.Context, o Options, db *store.Store, client kubernetes.Interface) error {
	access, err := api.NewAccess(client)
	if err != nil {
		return err
	}
	cluster, err := api.NewCluster(o.Kubernetes)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	if err := api.Register(mux, api.Options{Store: db, Access: access, Cluster: cluster, Clock: clock.RealClock{}}); err != nil {
		return err
	}
	if err := web.Register(mux); err != nil {
		return err
	}
	if o.HTTPTLS == nil {
		return health.Serve(ctx, "http", o.HTTP, mux)
	}
	certificate, err := certwatcher.New(o.HTTPTLS.CertFile, o.HTTPTLS.KeyFile)
	if err != nil {
		return fmt.Errorf("reading the certificate %s and its key %s: %w", o.HTTPTLS.CertFile, o.HTTPTLS.KeyFile, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return certificate.Start(ctx) })
	group.Go(func() error {
		secured := tls.NewListener(o.HTTP, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.GetCertificate})
		return health.Serve(ctx, "https", secured, mux)
	})
	return group.Wait()
}
