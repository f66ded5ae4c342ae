package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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

// kubeconfig writes a file that leads to the API server at the URL given.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"k","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"k"}}]}`, url)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestControllerServesUntilSIGTERM(t *testing.T) {
	server := newFakeAPIServer(t)
	p := daemontest.Start(t, "--kubeconfig="+kubeconfig(t, server.URL), "--leader-elect=false",
		"--health-address=127.0.0.1:0", "--metrics-address=127.0.0.1:0", "--logging-format=json")
	fields := p.AwaitLog("where it serves health", func(fields map[string]any) bool {
		return fields["msg"] == "starting server" && fields["name"] == "health probe"
	})
	for path, want := range map[string]string{"/healthz?verbose": "[+]ping ok", "/readyz?verbose": "[+]caches-synced ok"} {
		if body := healthtest.AwaitOK(t, fmt.Sprint("http://", fields["addr"], path)); !strings.Contains(body, want) {
			t.Errorf("GET %s does not contain %q:\n%s", path, want, body)
		}
	}
	p.Signal(syscall.SIGTERM)
	if code, stdout := p.Wait(); code != 0 || stdout != "" {
		t.Errorf("exit code %d, output %q; want 0 and none\n%s", code, stdout, p.Stderr())
	}
	// Without leader election there is no Lease and no event.
	if requests := server.unexpected(); len(requests) > 0 {
		t.Errorf("the controller asked for %v", requests)
	}
}

func TestControllerRefuses(t *testing.T) {
	forbidding := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer forbidding.Close()

	tests := []struct {
		name string
		args []string
		want string
	}{
		{name: "no cluster", want: "not running in a pod of a cluster: set --kubeconfig to a kubeconfig file"},
		{
			name: "a missing kubeconfig", args: []string{"--kubeconfig=/nonexistent/kubeconfig"},
			want: "--kubeconfig: cannot use /nonexistent/kubeconfig: stat /nonexistent/kubeconfig: no such file or directory",
		},
		{
			name: "credentials that are not accepted", args: []string{"--kubeconfig=" + kubeconfig(t, forbidding.URL)},
			want: "the API server at " + forbidding.URL + " does not accept the credentials",
		},
		{
			name: "an impossible namespace", args: []string{"--namespace=Vicinity"},
			want: `Error: --namespace: "Vicinity" cannot be the name of a namespace: `,
		},
		{
			name: "an address without a port", args: []string{"--health-address=0"},
			want: `Error: --health-address: expected host:port or :port with a port number up to 65535, found "0"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := daemontest.Start(t, append([]string{"--logging-format=json"}, tt.args...)...)
			if code, _ := p.Wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(p.Stderr(), tt.want) {
				t.Errorf("standard error\n%s\ndoes not contain\n%s", p.Stderr(), tt.want)
			}
		})
	}
}
