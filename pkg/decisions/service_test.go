package decisions

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2/ktesting"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/ingest"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
	"github.com/vicinity-scheduler/vicinity/pkg/health/healthtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestRunServesUntilItIsStopped(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ln, err := health.Listen(ctx, "health-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Health: ln, Database: filepath.Join(t.TempDir(), "db"), Ingest: listen(ctx, t)}
	result := make(chan error, 1)
	go func() { result <- Run(ctx, o) }()

	for path, want := range map[string]string{
		"/healthz":        "ok",
		"/readyz?verbose": "[+]not-stopping ok",
		"/metrics":        "vicinity_build_info{",
	} {
		if body := healthtest.AwaitOK(t, "http://"+ln.Addr().String()+path); !strings.Contains(body, want) {
			t.Errorf("GET %s does not contain %q:\n%s", path, want, body)
		}
	}

	cancel()
	select {
	case err := <-result:
		if err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Run has not returned 20s after its context ended")
	}
}

func listen(ctx context.Context, t *testing.T) net.Listener {
	t.Helper()
	ln, err := ingest.Listen(ctx, "unix:"+filepath.Join(t.TempDir(), "s"), false)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// TestRunReportsADatabaseThatCannotBeOpened, and closes the listeners.
func TestRunReportsADatabaseThatCannotBeOpened(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ln, err := health.Listen(ctx, "health-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(ctx, Options{Health: ln, Database: "/no/such/folder/db", Ingest: listen(ctx, t)}); err == nil {
		t.Error("want an error")
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener: %v, want it closed", err)
	}
}

func TestRunReportsABrokenListener(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	ln, err := health.Listen(ctx, "health-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	o := Options{Health: ln, Database: filepath.Join(t.TempDir(), "db"), Ingest: listen(ctx, t)}
	if err := Run(ctx, o); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run() = %v, want net.ErrClosed", err)
	}
}
