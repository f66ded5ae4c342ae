package imports_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/test/imports"
)

func TestCheck(t *testing.T) {
	const klog, apiserver, api = "k8s.io/klog/v2", "k8s.io/kubernetes/pkg/scheduler", "k8s.io/api/core/v1"
	cases := []struct {
		name string
		// from and to are relative to the module when they start with a dot.
		from, to string
		// wantRow is the row that the import breaks; with wantInTests, also when only tests have it.
		wantRow     string
		wantInTests bool
	}{
		{name: "API types may use apimachinery", from: "./apis/diskio/v1alpha1", to: "k8s.io/apimachinery/pkg/runtime"},
		{name: "API types may use other API types", from: "./apis/config/v1", to: "./apis/vicinity/v1alpha1"},
		{name: "API types may not use our code", from: "./apis/config/v1", to: "./pkg/score", wantRow: "apis", wantInTests: true},
		{name: "API types may not log", from: "./apis/config/v1", to: klog, wantRow: "apis", wantInTests: true},
		{name: "API types may have a client in tests only", from: "./apis/diskio/v1alpha1", to: "k8s.io/client-go/rest", wantRow: "apis"},
		{name: "API types may not bring the scheduler", from: "./apis/config/v1", to: apiserver, wantRow: "apis", wantInTests: true},
		{name: "one API package may", from: "./apis/config/scheme", to: apiserver},
		{name: "but it may not log either", from: "./apis/config/scheme", to: klog, wantRow: "apis/config/scheme", wantInTests: true},

		{name: "pure code may use the standard library", from: "./pkg/score", to: "encoding/json"},
		{name: "pure code may use pure code", from: "./pkg/feature", to: "./pkg/gpushare"},
		{name: "pure code may not log", from: "./pkg/score", to: "log", wantRow: "pure", wantInTests: true},
		{name: "pure code may not know Kubernetes", from: "./pkg/locality", to: api, wantRow: "pure", wantInTests: true},
		{name: "pure code may not know our API", from: "./pkg/locality", to: "./apis/config/v1", wantRow: "pure", wantInTests: true},
		{name: "pure code may not read state", from: "./pkg/blockio", to: "./pkg/state", wantRow: "pure", wantInTests: true},
		{name: "pure code may be compared in tests only", from: "./pkg/mlp", to: "github.com/google/go-cmp/cmp", wantRow: "pure"},
		{name: "delays may use network coordinates", from: "./pkg/delay", to: "github.com/hashicorp/serf/coordinate"},
		{
			name: "other pure code may not",
			from: "./pkg/score", to: "github.com/hashicorp/serf/coordinate", wantRow: "pure", wantInTests: true,
		},

		{name: "state may use informers", from: "./pkg/state", to: "sigs.k8s.io/controller-runtime/pkg/cache"},
		{name: "state may not know a plugin", from: "./pkg/state", to: "./pkg/plugins/diskio", wantRow: "state", wantInTests: true},
		{name: "state may not bring the scheduler", from: "./pkg/diskmodel", to: apiserver, wantRow: "state", wantInTests: true},
		{name: "state may be tried on a control plane", from: "./pkg/state", to: "./pkg/localcluster", wantRow: "state"},

		{name: "a plugin may use the framework's interfaces", from: "./pkg/plugins/diskio", to: "k8s.io/kube-scheduler/framework"},
		{name: "a plugin may use its own parts", from: "./pkg/plugins/diskio", to: "./pkg/plugins/diskio/metrics"},
		{name: "a plugin may use what plugins share", from: "./pkg/plugins/diskio", to: "./pkg/plugins/internal/cyclestate"},
		{
			name: "a plugin may not use another one",
			from: "./pkg/plugins/diskio", to: "./pkg/plugins/sniffer", wantRow: "plugins", wantInTests: true,
		},
		{
			name: "a plugin may not read state itself",
			from: "./pkg/plugins/diskio", to: "./pkg/state", wantRow: "plugins", wantInTests: true,
		},
		{name: "a plugin may have the scheduler in tests only", from: "./pkg/plugins/diskio", to: apiserver, wantRow: "plugins"},
		{
			name: "what plugins share may not know them",
			from: "./pkg/plugins/internal/x", to: "./pkg/plugins/diskio", wantRow: "plugins/internal", wantInTests: true,
		},

		{name: "a daemon may read state", from: "./pkg/controller", to: "./pkg/state"},
		{name: "a daemon may use its own parts", from: "./pkg/agent", to: "./pkg/agent/rtt"},
		{
			name: "a daemon may not use a plugin",
			from: "./pkg/controller", to: "./pkg/plugins/edgedelay", wantRow: "daemons", wantInTests: true,
		},
		{
			name: "a daemon may not use another one",
			from: "./pkg/agent/rtt", to: "./pkg/controller", wantRow: "daemons", wantInTests: true,
		},
		{name: "the simulator may use plugins", from: "./pkg/simulator/framework", to: "./pkg/plugins/mlpscore"},
		{name: "its engine may not", from: "./pkg/simulator/engine", to: "./pkg/plugins/mlpscore", wantRow: "simulator core"},
		{name: "the simulator may not use daemons", from: "./pkg/simulator", to: "./pkg/agent", wantRow: "simulator", wantInTests: true},

		{name: "the local cluster may carry its module files", from: "./pkg/localcluster", to: "./hack/controlplane"},
		{
			name: "the local cluster may not know scenarios",
			from: "./pkg/localcluster", to: "./pkg/scenario", wantRow: "localcluster", wantInTests: true,
		},
		{name: "a binary may use anything in pkg", from: "./cmd/vicinity", to: "./pkg/simulator"},
		{
			name: "a binary may not use another one",
			from: "./cmd/vicinity", to: "./cmd/scheduler/flags", wantRow: "cmd", wantInTests: true,
		},
		{
			name: "scenarios may use anything but a binary",
			from: "./pkg/scenario", to: "./cmd/agent", wantRow: "scenario", wantInTests: true,
		},
		{name: "tests may use anything but a binary", from: "./test/integration", to: "./cmd/agent", wantRow: "test", wantInTests: true},
		{name: "tests may use the scheduler", from: "./test/perf", to: apiserver},
		{name: "embedded files need no code", from: "./manifests", to: "./pkg/score", wantRow: "embedded files"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			from, to := full(tc.from), full(tc.to)
			built := imports.Check(imports.Table(), []imports.Package{{Path: from, Imports: []string{"fmt", to}}})
			if diff := cmp.Diff(want(from, to, tc.wantRow, false), brief(built)); diff != "" {
				t.Errorf("import in built files (-want +got):\n%s", diff)
			}
			wantTest := tc.wantRow
			if !tc.wantInTests {
				wantTest = ""
			}
			tested := imports.Check(imports.Table(), []imports.Package{{Path: from, TestImports: []string{"fmt", to}}})
			if diff := cmp.Diff(want(from, to, wantTest, true), brief(tested)); diff != "" {
				t.Errorf("import in tests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckRefusesPackagesThatNoRowKnows(t *testing.T) {
	got := imports.Check(imports.Table(), []imports.Package{{Path: imports.Module + "/pkg/novelty"}})
	want := []imports.Breach{{Package: imports.Module + "/pkg/novelty"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("breaches (-want +got):\n%s", diff)
	}
}

func TestBreachNamesThePackageTheImportAndTheReason(t *testing.T) {
	cases := []struct {
		name   string
		breach imports.Breach
		want   []string
	}{
		{
			name:   "built files",
			breach: imports.Breach{Package: "p", Import: "q", Row: "pure", Why: "because"},
			want:   []string{"p imports q", `row "pure"`, "because"},
		},
		{
			name:   "tests",
			breach: imports.Breach{Package: "p", Import: "q", Row: "pure", Why: "because", Test: true},
			want:   []string{"a test of p imports q"},
		},
		{
			name:   "no row",
			breach: imports.Breach{Package: "p"},
			want:   []string{"p has no row", "table.go"},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.breach.String()
			for _, part := range tc.want {
				if !strings.Contains(got, part) {
					t.Errorf("expected %q in the message, found %q", part, got)
				}
			}
		})
	}
}

func full(path string) string {
	if rest, ok := strings.CutPrefix(path, "./"); ok {
		return imports.Module + "/" + rest
	}
	return path
}

func want(from, to, row string, test bool) []string {
	if row == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s -> %s: %s, test %t", from, to, row, test)}
}

func brief(breaches []imports.Breach) []string {
	var lines []string
	for _, b := range breaches {
		lines = append(lines, fmt.Sprintf("%s -> %s: %s, test %t", b.Package, b.Import, b.Row, b.Test))
	}
	return lines
}
