package controller

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/ktesting"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/vicinity-scheduler/vicinity/pkg/health/healthtest"
)

func TestMain(m *testing.M) {
	// What controller-runtime logs without a context, it would otherwise complain about.
	crlog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}

// replica is a controller that runs.
type replica struct {
	Options
	// reconciling is closed when what Setups added has been started.
	reconciling chan struct{}
	cancel      context.CancelFunc
	result      chan error
}

func startReplica(t *testing.T, config *rest.Config, leaderElect bool) *replica {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	r := &replica{reconciling: make(chan struct{}), cancel: cancel, result: make(chan error, 1)}
	r.Options = Options{
		Namespace:      "vicinity-system",
		HealthAddress:  freeAddress(t),
		MetricsAddress: freeAddress(t),
		LeaderElect:    leaderElect,
		Setups: []Setup{func(_ context.Context, m manager.Manager) error {
			return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
				close(r.reconciling)
				<-ctx.Done()
				return nil
			}))
		}},
	}
	go func() { r.result <- Run(ctx, config, r.Options) }()
	t.Cleanup(func() { _ = r.stop(t) })
	return r
}

func (r *replica) stop(t *testing.T) error {
	t.Helper()
	r.cancel()
	select {
	case err := <-r.result:
		r.result <- err // for the cleanup
		return err
	case <-time.After(shutdownTimeout + 10*time.Second):
		t.Fatal("Run has not returned ten seconds after the shutdown timeout")
		return nil
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

func awaitClosed(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatalf("waited 30s for %s", what)
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 30s for %s", what)
		}
	}
}

func TestOneReplicaLeadsAndGivesTheLeaseBack(t *testing.T) {
	server := newFakeAPIServer(t)
	leader := startReplica(t, server.config(), true)
	awaitClosed(t, leader.reconciling, "the first replica to reconcile")
	if server.holder() == "" {
		t.Error("a replica reconciles without holding the Lease")
	}

	follower := startReplica(t, server.config(), true)
	for _, r := range []*replica{leader, follower} {
		if body := healthtest.AwaitOK(t, "http://"+r.HealthAddress+"/healthz"); body != "ok" {
			t.Errorf("GET /healthz = %q, want ok", body)
		}
		body := healthtest.AwaitOK(t, "http://"+r.HealthAddress+"/readyz?verbose")
		if !strings.Contains(body, "[+]caches-synced ok") || !strings.Contains(body, "[+]not-stopping ok") {
			t.Errorf("GET /readyz?verbose = %q, want both checks", body)
		}
	}
	metrics := healthtest.AwaitOK(t, "http://"+leader.MetricsAddress+"/metrics")
	for _, want := range []string{"vicinity_build_info{", `leader_election_master_status{name="vicinity-controller"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("GET /metrics does not contain %s", want)
		}
	}
	select {
	case <-follower.reconciling:
		t.Error("the second replica reconciles while the first one leads")
	default:
	}

	// The event that tells of the leader is written when there is time.
	eventually(t, "the event of the election", func() bool { return slices.Contains(server.asked(), "create events") })
	if err := follower.stop(t); err != nil {
		t.Errorf("Run() of the follower = %v, want nil", err)
	}
	if server.holder() == "" {
		t.Error("the follower's stop released the leader's Lease")
	}
	if err := leader.stop(t); err != nil {
		t.Errorf("Run() of the leader = %v, want nil", err)
	}
	if holder := server.holder(); holder != "" {
		t.Errorf("the Lease is held by %q after the leader's stop, want nobody", holder)
	}
	// This is what the chart has to grant.
	want := []string{"create events", "create leases", "get /version", "get leases", "update leases"}
	if diff := cmp.Diff(want, server.asked()); diff != "" {
		t.Errorf("requests to the API server (-want +got):\n%s", diff)
	}
}

func TestWithoutElectionItReconcilesAtOnce(t *testing.T) {
	server := newFakeAPIServer(t)
	r := startReplica(t, server.config(), false)
	awaitClosed(t, r.reconciling, "the replica to reconcile")
	if err := r.stop(t); err != nil {
		t.Errorf("Run() = %v, want nil", err)
	}
	if diff := cmp.Diff([]string{"get /version"}, server.asked()); diff != "" {
		t.Errorf("requests to the API server (-want +got):\n%s", diff)
	}
}

func TestNewReportsWhatCannotBeSetUp(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	broken := errors.New("no such kind")
	good := func(context.Context, manager.Manager) error { return nil }
	_, err := New(ctx, newFakeAPIServer(t).config(), Options{
		Namespace: "vicinity-system", HealthAddress: freeAddress(t), MetricsAddress: freeAddress(t),
		Setups: []Setup{good, func(context.Context, manager.Manager) error { return broken }},
	})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "cannot set up reconciler 2 of 2") {
		t.Errorf("New() = %v, want the reconciler's error and its place", err)
	}
}

func TestAwaitAPIServer(t *testing.T) {
	status := func(code int) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	}
	tests := []struct {
		name    string
		server  *httptest.Server
		timeout time.Duration
		want    []string
	}{
		// Asking again would not help: these do not use up their minute.
		{
			name: "wrong credentials", server: status(http.StatusUnauthorized), timeout: time.Minute,
			want: []string{"does not accept the credentials"},
		},
		{
			name: "no permission", server: status(http.StatusForbidden), timeout: time.Minute,
			want: []string{"does not accept the credentials"},
		},
		{
			name: "not ready", server: status(http.StatusServiceUnavailable), timeout: 900 * time.Millisecond,
			want: []string{"does not answer within 900ms", "check that it runs and that the kubeconfig is right", "unable to handle the request"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer tt.server.Close()
			_, ctx := ktesting.NewTestContext(t)
			err := awaitAPIServer(ctx, &rest.Config{Host: tt.server.URL}, tt.timeout)
			for _, want := range append(tt.want, tt.server.URL) {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("awaitAPIServer() = %v, want an error with %q", err, want)
				}
			}
		})
	}
}

func TestRunStopsWhileItWaitsForTheAPIServer(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	result := make(chan error, 1)
	go func() { result <- Run(ctx, &rest.Config{Host: server.URL}, Options{}) }()
	awaitClosed(t, asked, "the first request")
	cancel()
	select {
	case err := <-result:
		if err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Run has not returned 10s after its context ended")
	}
}

func TestLoadRESTConfig(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := LoadRESTConfig(""); err == nil || !strings.Contains(err.Error(), "set --kubeconfig") {
		t.Errorf("LoadRESTConfig() outside a cluster = %v, want advice", err)
	}

	file := filepath.Join(t.TempDir(), "kubeconfig")
	if _, err := LoadRESTConfig(file); err == nil || !strings.Contains(err.Error(), "--kubeconfig: cannot use "+file) {
		t.Errorf("LoadRESTConfig() of a missing file = %v, want an error that names it", err)
	}

	const content = `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"k","cluster":{"server":"https://10.0.0.1:6443"}}],
		"users":[{"name":"u","user":{"token":"t"}}],
		"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}]}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := LoadRESTConfig(file)
	if err != nil || config.Host != "https://10.0.0.1:6443" || config.BearerToken != "t" {
		t.Errorf("LoadRESTConfig() = %+v, %v; want the file's server and token", config, err)
	}
}
