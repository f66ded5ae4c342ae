package main

import (
	"net"
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

const header = "apiVersion: config.vicinity.dev/v1\nkind: AgentConfiguration\n"

const datasetsConfig = header + "collectors:\n- name: datasets\ndatasets:\n  roots: [{path: /nonexistent/cache, medium: SSD}]\n"

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent-config.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// loopback are flags with which agents do not get in each other's way.
func loopback(args ...string) []string {
	return append([]string{"--health-address=127.0.0.1:0", "--metrics-address=127.0.0.1:0", "--logging-format=json"}, args...)
}

func TestAgentServesUntilSIGTERM(t *testing.T) {
	p := daemontest.Start(t, loopback("--node-name=m02", "--config="+writeConfig(t, header))...)
	probes, metrics := p.AwaitEndpoint("health"), p.AwaitEndpoint("metrics")
	for url, want := range map[string]string{
		"http://" + probes + "/healthz":        "ok",
		"http://" + probes + "/readyz?verbose": "[+]collectors ok",
		"http://" + metrics + "/metrics":       "vicinity_build_info{",
	} {
		if body := healthtest.AwaitOK(t, url); !strings.Contains(body, want) {
			t.Errorf("GET %s does not contain %q:\n%s", url, want, body)
		}
	}
	p.Signal(syscall.SIGTERM)
	if code, stdout := p.Wait(); code != 0 || stdout != "" {
		t.Errorf("exit code %d, output %q; want 0 and none\n%s", code, stdout, p.Stderr())
	}
	if !strings.Contains(p.Stderr(), `"node":"m02"`) {
		t.Errorf("the log does not tell the node's name:\n%s", p.Stderr())
	}
}

func TestAgentTakesTheNodeNameFromTheEnvironment(t *testing.T) {
	p := daemontest.StartWithEnv(t, []string{"NODE_NAME=m03"}, loopback()...)
	p.AwaitEndpoint("health")
	if !strings.Contains(p.Stderr(), `"node":"m03"`) {
		t.Errorf("the log does not tell the node's name:\n%s", p.Stderr())
	}
}

func TestAgentRefuses(t *testing.T) {
	used, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = used.Close() }()

	tests := []struct {
		name string
		args []string
		want string
	}{
		{
			name: "no node name",
			want: "Error: --node-name: expected the name of this machine's Node object, found nothing; set the flag or $NODE_NAME",
		},
		{
			name: "an impossible node name", args: []string{"--node-name=M_02"},
			want: `Error: --node-name: "M_02" cannot be the name of a Node: `,
		},
		{
			name: "an address without a port", args: []string{"--node-name=m02", "--metrics-address=localhost"},
			want: `Error: --metrics-address: expected host:port or :port with a port number up to 65535, found "localhost"`,
		},
		{
			name: "an address in use", args: []string{"--node-name=m02", "--metrics-address=" + used.Addr().String()},
			want: `--metrics-address: cannot listen on \"` + used.Addr().String() + `\"`,
		},
		{
			name: "a missing configuration", args: []string{"--node-name=m02", "--config=/nonexistent/agent-config.yaml"},
			want: "open /nonexistent/agent-config.yaml: no such file or directory",
		},
		{
			name: "a collector that does not exist",
			args: []string{"--node-name=m02", "--config=" + writeConfig(t, header+"collectors:\n- name: diskStats\n")},
			want: `collectors[0].name: Unsupported value: \"diskStats\": supported values: \"datasets\", \"diskprofile\", \"diskstats\", \"rtt\"`,
		},
		{
			name: "an impossible namespace", args: []string{"--node-name=m02", "--namespace=A.b"},
			want: `Error: --namespace: "A.b" cannot be the name of a namespace: `,
		},
		{
			name: "simulated disks that are not there", args: []string{"--node-name=m02", "--simulate-devices=/nonexistent/disks.yaml"},
			want: "Error: --simulate-devices: cannot read the simulated disks: stat /nonexistent/disks.yaml: no such file or directory",
		},
		{
			name: "a collector without its section",
			args: []string{"--node-name=m02", "--config=" + writeConfig(t, header+"collectors:\n- name: datasets\n")},
			want: `datasets.roots: Required value: the collector \"datasets\" needs the folders to count in`,
		},
		{
			name: "a collector that writes, and no API server to write to",
			args: []string{"--node-name=m02", "--config=" + writeConfig(t, datasetsConfig)},
			want: `cannot make collector \"datasets\": no --kubeconfig, and not in a pod with a ServiceAccount token`,
		},
		{
			name: "a kubeconfig that is not there",
			args: []string{"--node-name=m02", "--config=" + writeConfig(t, datasetsConfig), "--kubeconfig=/nonexistent/kubeconfig"},
			want: `cannot make collector \"datasets\": --kubeconfig: stat /nonexistent/kubeconfig: no such file or directory`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Also in a pod, there is no API server for it.
			p := daemontest.StartWithEnv(t, []string{"KUBERNETES_SERVICE_HOST="}, loopback(tt.args...)...)
			if code, _ := p.Wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(p.Stderr(), tt.want) {
				t.Errorf("standard error\n%s\ndoes not contain\n%s", p.Stderr(), tt.want)
			}
		})
	}
}
