package health

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2/ktesting"

	"github.com/vicinity-scheduler/vicinity/pkg/health/healthtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// startServer serves mux on a free port. It returns the address, and a function that stops and returns Serve's error.
func startServer(t *testing.T, mux http.Handler, drain time.Duration) (address string, stop func() error) {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	ln, err := Listen(ctx, "test-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() { result <- serve(ctx, "test", ln, mux, drain) }()
	return ln.Addr().String(), func() error {
		cancel()
		select {
		case err := <-result:
			return err
		case <-time.After(drain + 10*time.Second):
			return errors.New("Serve has not returned ten seconds after the drain timeout")
		}
	}
}

func TestEndpoints(t *testing.T) {
	registry, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	Register(mux, nil, Checks{
		"good": func(*http.Request) error { return nil },
		"bad":  func(*http.Request) error { return errors.New("the disk is on fire") },
	})
	RegisterMetrics(mux, registry)
	address, stop := startServer(t, mux, drainTimeout)

	tests := []struct {
		name       string
		method     string
		path       string
		wantStatus int
		wantBody   []string
	}{
		{name: "alive without checks", path: "/healthz", wantStatus: 200, wantBody: []string{"ok"}},
		{name: "not ready, saying which check fails", path: "/readyz", wantStatus: 500, wantBody: []string{"[+]good ok", "[-]bad failed"}},
		{name: "the reason of one check", path: "/readyz/bad", wantStatus: 500, wantBody: []string{"the disk is on fire"}},
		{name: "one good check", path: "/readyz/good", wantStatus: 200, wantBody: []string{"ok"}},
		{name: "ready but for an excluded check", path: "/readyz?verbose&exclude=bad", wantStatus: 200, wantBody: []string{"[+]bad excluded: ok"}},
		{name: "an unknown check", path: "/readyz/ugly", wantStatus: 404},
		{name: "metrics", path: "/metrics", wantStatus: 200, wantBody: []string{"vicinity_build_info{", "go_goroutines ", "process_cpu_seconds_total "}},
		{name: "nothing else", path: "/", wantStatus: 404},
		{name: "read only", method: http.MethodPost, path: "/healthz", wantStatus: 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			method := tt.method
			if method == "" {
				method = http.MethodGet
			}
			status, body, err := healthtest.Do(t, method, "http://"+address+tt.path)
			if err != nil {
				t.Fatal(err)
			}
			if status != tt.wantStatus {
				t.Errorf("%s %s = %d, want %d\n%s", method, tt.path, status, tt.wantStatus, body)
			}
			for _, want := range tt.wantBody {
				if !strings.Contains(body, want) {
					t.Errorf("%s %s does not contain %q:\n%s", method, tt.path, want, body)
				}
			}
		})
	}
	if err := stop(); err != nil {
		t.Errorf("Serve() = %v, want nil", err)
	}
}

func TestBuildInfoIsRegisteredOnce(t *testing.T) {
	registry, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	if err := RegisterBuildInfo(registry); err != nil {
		t.Errorf("RegisterBuildInfo() for the second time = %v, want nil", err)
	}
}

func TestNotStopping(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	check := NotStopping(ctx)
	if err := check(nil); err != nil {
		t.Errorf("check = %v before the stop, want nil", err)
	}
	cancel(errors.New("terminated signal received"))
	if err := check(nil); err == nil || !strings.Contains(err.Error(), "terminated signal received") {
		t.Errorf("check = %v after the stop, want the cause", err)
	}
}

func TestServeFinishesRunningRequests(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		if r.Context().Err() != nil {
			t.Error("the request was cancelled by the stop")
		}
		_, _ = io.WriteString(w, "done")
	})
	address, stop := startServer(t, mux, drainTimeout)

	answer := make(chan string, 1)
	go func() {
		_, body, err := healthtest.Do(t, http.MethodGet, "http://"+address+"/slow")
		if err != nil {
			t.Error(err)
		}
		answer <- body
	}()
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	// New connections are refused as soon as the stop has begun.
	for {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			break
		}
		_ = conn.Close()
		time.Sleep(time.Millisecond)
	}
	close(release)
	if got := <-answer; got != "done" {
		t.Errorf("answer during the stop = %q, want done", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve() = %v, want nil", err)
	}
}

func TestServeDoesNotWaitForEverForARequest(t *testing.T) {
	arrived := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hang", func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	address, stop := startServer(t, mux, 50*time.Millisecond)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /hang HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-arrived
	if err := stop(); err != nil {
		t.Errorf("Serve() = %v, want nil after cutting the connection", err)
	}
}

func TestServeReportsABrokenListener(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ln, err := Listen(ctx, "test-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Serve(ctx, "test", ln, http.NewServeMux()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve() = %v, want net.ErrClosed", err)
	}
}

func TestListenNamesTheFlag(t *testing.T) {
	ln, err := Listen(t.Context(), "health-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, err = Listen(t.Context(), "health-address", ln.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "--health-address: cannot listen on") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Listen() on a used port = %v, want the flag and the reason", err)
	}
}

func TestValidateAddress(t *testing.T) {
	for _, good := range []string{":8080", "127.0.0.1:0", "[::1]:65535", "localhost:80"} {
		if err := ValidateAddress("health-address", good); err != nil {
			t.Errorf("ValidateAddress(%q) = %v, want nil", good, err)
		}
	}
	for _, bad := range []string{"", "0", "8080", "localhost", ":", ":http", ":65536", ":-1", "::1:80", "http://localhost:80"} {
		err := ValidateAddress("health-address", bad)
		if err == nil || !strings.HasPrefix(err.Error(), "--health-address: expected host:port or :port") {
			t.Errorf("ValidateAddress(%q) = %v, want an error that names the flag and the form", bad, err)
		}
	}
}
