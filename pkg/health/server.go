package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/klog/v2"
)

const (
	// drainTimeout bounds how long requests that are being answered may hold up a stop. Probes
	// and scrapes take milliseconds; Kubernetes kills a pod 30 s after asking it to stop.
	drainTimeout = 5 * time.Second

	// A client that sends or reads slowly must not hold a connection for ever.
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
)

// ValidateAddress tells whether the value of the named flag is an address to listen on: host:port,
// or :port for all interfaces. The host is not looked up.
func ValidateAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("--%s: expected host:port or :port with a port number up to 65535, found %q", flag, address)
	}
	return nil
}

// Listen opens the TCP address that the named flag gave. Port 0 takes a free port; the listener
// knows which. [Serve] closes the listener.
func Listen(ctx context.Context, flag, address string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--%s: cannot listen on %q, choose another address: %w", flag, address, err)
	}
	return ln, nil
}

// Serve answers HTTP requests on ln with h until ctx ends. It then lets running requests finish,
// for at most five seconds, and returns nil. It returns an error if serving ends for any other
// reason. ln is closed when Serve returns. The name is for the log.
func Serve(ctx context.Context, name string, ln net.Listener, h http.Handler) error {
	return serve(ctx, name, ln, h, drainTimeout)
}

func serve(ctx context.Context, name string, ln net.Listener, h http.Handler, drain time.Duration) error {
	logger := klog.FromContext(ctx).WithValues("endpoint", name, "address", ln.Addr().String())
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		// Requests that run when ctx ends are to be finished, not cancelled.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}

	drained := make(chan struct{})
	cancelDrain := context.AfterFunc(ctx, func() {
		defer close(drained)
		drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		if err := server.Shutdown(drainCtx); err != nil {
			err = errors.Join(err, server.Close())
			logger.Info("Requests were still running at the end of the drain, closed their connections", "reason", err)
		}
	})

	logger.Info("Serving")
	err := server.Serve(ln)
	if cancelDrain() || !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s on %s ended: %w", name, ln.Addr(), err)
	}
	// Serve returns when the shutdown begins; the last requests end with the drain.
	<-drained
	return nil
}
