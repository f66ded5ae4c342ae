package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
	"github.com/vicinity-scheduler/vicinity/pkg/health/healthtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// listen takes a free port for the duration of a test.
func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := health.Listen(t.Context(), "test", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func TestRunServesWhileCollectorsRun(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first, release := make(chan struct{}), make(chan struct{})
	options := runOptions(t, Builder{Name: "disk", New: func(context.Context, BuilderOptions) (Collector, error) {
		return &fakeCollector{name: "disk", collect: func(context.Context, time.Time) error {
			close(first)
			<-release
			return nil
		}}, nil
	}})
	options.Config.Collectors = []configv1.CollectorSchedule{{
		Name: "disk", Interval: metav1.Duration{Duration: time.Hour}, Timeout: metav1.Duration{Duration: time.Second},
	}}
	result := make(chan error, 1)
	go func() { result <- Run(ctx, options) }()

	if status, body := healthtest.Get(t, "http://"+options.Health.Addr().String()+"/healthz"); status != http.StatusOK || body != "ok" {
		t.Errorf("GET /healthz = %d %q, want 200 ok", status, body)
	}
	if status, body := healthtest.Get(t, "http://"+options.Health.Addr().String()+"/readyz/collectors"); status != http.StatusInternalServerError || !strings.Contains(body, "first round of: disk") {
		t.Errorf("GET /readyz/collectors before the first round = %d %q, want 500 and the collector's name", status, body)
	}
	<-first
	close(release)
	healthtest.AwaitOK(t, "http://"+options.Health.Addr().String()+"/readyz")
	_, metrics := healthtest.Get(t, "http://"+options.Metrics.Addr().String()+"/metrics")
	for _, want := range []string{
		`vicinity_agent_collector_rounds_total{collector="disk",result="success"} 1`,
		`vicinity_agent_collector_rounds_total{collector="disk",result="panic"} 0`,
		`vicinity_agent_collector_missed_rounds_total{collector="disk"} 0`,
		`vicinity_agent_collector_round_duration_seconds_count{collector="disk"} 1`,
		`vicinity_agent_collector_last_success_timestamp_seconds{collector="disk"} 1`,
		`vicinity_build_info{goversion="go`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("GET /metrics does not contain %s\n%s", want, metrics)
		}
	}

	cancel()
	awaitEnd(t, result, nil)
}

func TestRunWithoutCollectorsIsReady(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := runOptions(t)
	result := make(chan error, 1)
	go func() { result <- Run(ctx, options) }()

	if status, body := healthtest.Get(t, "http://"+options.Health.Addr().String()+"/readyz?verbose"); status != http.StatusOK || !strings.Contains(body, "[+]collectors ok") {
		t.Errorf("GET /readyz?verbose = %d %q, want 200 and the check of the collectors", status, body)
	}
	cancel()
	awaitEnd(t, result, nil)
}

func TestRunEndsWhenAnEndpointFails(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	options := runOptions(t)
	if err := options.Metrics.Close(); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { result <- Run(ctx, options) }()
	awaitEnd(t, result, net.ErrClosed)
}

func TestRunClosesItsListenersWhenItCannotStart(t *testing.T) {
	broken := errors.New("no such device")
	options := runOptions(t, Builder{Name: "disk", New: func(context.Context, BuilderOptions) (Collector, error) { return nil, broken }})
	options.Config.Collectors = []configv1.CollectorSchedule{{Name: "disk"}}
	if err := Run(t.Context(), options); !errors.Is(err, broken) {
		t.Errorf("Run() = %v, want the collector's error", err)
	}
	for _, ln := range []net.Listener{options.Health, options.Metrics} {
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept() = %v, want a closed listener", err)
		}
	}
}

func runOptions(t *testing.T, builders ...Builder) Options {
	t.Helper()
	return Options{
		NodeName: "m02",
		Config:   &configv1.AgentConfiguration{},
		Builders: builders,
		Health:   listen(t),
		Metrics:  listen(t),
		Rand:     rand.New(rand.NewPCG(1, 2)),
	}
}

// awaitEnd checks that Run ends with the error wanted, nil included, in bounded time.
func awaitEnd(t *testing.T, result <-chan error, want error) {
	t.Helper()
	select {
	case err := <-result:
		if !errors.Is(err, want) {
			t.Errorf("Run() = %v, want %v", err, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Run has not returned after 20s")
	}
}
