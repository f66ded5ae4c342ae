package ingest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
)

const (
	// stopPatience is how long streams may take to end after the service was asked to stop.
	stopPatience = 3 * time.Second
	// A client that is gone without a word is noticed after these.
	keepaliveTime    = time.Minute
	keepaliveTimeout = 20 * time.Second
	// streams bounds what one connection may open.
	streams = 64
)

// Options is what ingest runs with.
type Options struct {
	// Store is where everything goes.
	Store Store
	// Clock tells the time of arrival.
	Clock clock.PassiveClock
	// Registerer takes the metrics.
	Registerer prometheus.Registerer
	// Listener serves both services; Serve closes it.
	Listener net.Listener
	// TLS secures Listener with mutual TLS; nil leaves it open, which is for Unix sockets and loopback addresses only.
	TLS *TLS
	// Legacy serves the predecessor's service without TLS; nil serves it nowhere else. Serve closes it.
	Legacy net.Listener
}

// TLS names the files of mutual TLS. They are read again when they change.
type TLS struct {
	CertFile, KeyFile string
	// ClientCAFile has the certificates that those of clients must be signed by.
	ClientCAFile string
}

// Serve takes records and events until ctx ends, and returns nil then.
func Serve(ctx context.Context, o Options) error {
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return errors.Join(err, closeAll(o.Listener, o.Legacy))
	}
	group, ctx := errgroup.WithContext(ctx)
	transport := insecure.NewCredentials()
	if o.TLS != nil {
		config, watcher, err := o.TLS.config()
		if err != nil {
			return errors.Join(err, closeAll(o.Listener, o.Legacy))
		}
		transport = credentials.NewTLS(config)
		group.Go(func() error { return watcher.Start(ctx) })
	}
	old := &events{store: o.Store, clock: o.Clock, metrics: m, queue: make(chan call, waiting)}
	group.Go(func() error {
		old.run(ctx)
		return nil
	})
	server := newServer(transport)
	tracev1.RegisterDecisionServiceServer(server, &decisions{store: o.Store, clock: o.Clock, metrics: m})
	tracev1.RegisterSnifferServiceServer(server, old)
	group.Go(func() error { return serve(ctx, "ingest", server, o.Listener) })
	if o.Legacy != nil {
		server := newServer(insecure.NewCredentials())
		tracev1.RegisterSnifferServiceServer(server, old)
		group.Go(func() error { return serve(ctx, "legacy", server, o.Legacy) })
	}
	return group.Wait()
}

func closeAll(listeners ...net.Listener) error {
	var errs []error
	for _, ln := range listeners {
		if ln != nil {
			errs = append(errs, ln.Close())
		}
	}
	return errors.Join(errs...)
}

func newServer(transport credentials.TransportCredentials) *grpc.Server {
	return grpc.NewServer(
		grpc.Creds(transport),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(streams),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveTimeout, PermitWithoutStream: true}),
	)
}

func serve(ctx context.Context, name string, server *grpc.Server, ln net.Listener) error {
	logger := klog.FromContext(ctx)
	stopped := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(stopped)
		// Streams of schedulers do not end by themselves. What they have sent and is not acknowledged they send again.
		forced := time.AfterFunc(stopPatience, server.Stop)
		defer forced.Stop()
		server.GracefulStop()
	})
	logger.Info("Serving", "endpoint", name, "address", ln.Addr().String())
	err := server.Serve(ln)
	if release() {
		return fmt.Errorf("serving %s on %s ended: %w", name, ln.Addr(), err)
	}
	<-stopped
	return nil
}

// config is the configuration for mutual TLS, and what keeps the server's certificate current.
func (t *TLS) config() (*tls.Config, *certwatcher.CertWatcher, error) {
	watcher, err := certwatcher.New(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the certificate %s and its key %s: %w", t.CertFile, t.KeyFile, err)
	}
	if _, err := t.clientCAs(); err != nil {
		return nil, nil, err
	}
	config := &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: watcher.GetCertificate,
		ClientAuth:     tls.RequireAndVerifyClientCert,
		NextProtos:     []string{"h2"},
	}
	// Connections last for days, so reading a small file for each does no harm.
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		pool, err := t.clientCAs()
		if err != nil {
			return nil, err
		}
		own := config.Clone()
		own.GetConfigForClient, own.ClientCAs = nil, pool
		return own, nil
	}
	return config, watcher, nil
}

func (t *TLS) clientCAs() (*x509.CertPool, error) {
	pem, err := os.ReadFile(t.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates that clients' must be signed by: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: want certificates in PEM, found none", t.ClientCAFile)
	}
	return pool, nil
}
