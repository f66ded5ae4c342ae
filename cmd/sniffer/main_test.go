package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/daemon/daemontest"
	"github.com/vicinity-scheduler/vicinity/pkg/health/healthtest"
)

func TestMain(m *testing.M) {
	os.Exit(daemontest.Main(m, main))
}

func TestSnifferServesUntilSIGTERM(t *testing.T) {
	folder := t.TempDir()
	p := daemontest.Start(t, "--health-address=127.0.0.1:0", "--logging-format=json", "--standalone",
		"--database="+filepath.Join(folder, "db"), "--ingest-address=unix:"+filepath.Join(folder, "s"))
	address := p.AwaitEndpoint("health")
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ok", "/metrics": "vicinity_build_info{"} {
		if body := healthtest.AwaitOK(t, "http://"+address+path); !strings.Contains(body, want) {
			t.Errorf("GET %s does not contain %q:\n%s", path, want, body)
		}
	}
	p.Signal(syscall.SIGTERM)
	if code, stdout := p.Wait(); code != 0 || stdout != "" {
		t.Errorf("exit code %d, output %q; want 0 and none\n%s", code, stdout, p.Stderr())
	}
}

func TestSnifferRefuses(t *testing.T) {
	for name, c := range map[string]struct{ flag, want string }{
		"an address without a host": {"--health-address=8082", `--health-address: expected host:port or :port with a port number up to 65535, found "8082"`},
		"tokens over open networks": {"--http-address=:8080", "want a loopback address"},
		"half a certificate":        {"--ingest-cert-file=x", "want all or none of them"},
		"a negative age":            {"--retention=-1h", "want 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			p := daemontest.Start(t, c.flag)
			if code, _ := p.Wait(); code != 1 || !strings.Contains(p.Stderr(), c.want) {
				t.Errorf("exit code %d and\n%s\nwant 1 and\n%s", code, p.Stderr(), c.want)
			}
		})
	}
}
