package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
	"github.com/vicinity-scheduler/vicinity/test/scenarios"
)

// execute runs the command line in this process.
func execute(t *testing.T, program string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	root := newRootCommand(program)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	err = root.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}

func TestCommandLine(t *testing.T) {
	tests := map[string]struct {
		program string
		args    []string
		out     []string
		wantErr []string
	}{
		"version":                      {args: []string{"version"}, out: []string{"vicinity ", "go1."}},
		"help":                         {args: []string{"help"}, out: []string{"up ", "demo ", "version ", "completion "}},
		"help of a kubectl plugin":     {program: pluginName, args: []string{"help", "demo"}, out: []string{"kubectl vicinity demo [SCENARIO...]"}},
		"help of up has examples":      {args: []string{"up", "--help"}, out: []string{"vicinity up --nodes 12", "controller, agent, sniffer", "datashim, fluid"}},
		"a list of scenarios":          {args: []string{"demo", "--list", "cacheaware/gateway-node"}, out: []string{"cacheaware/gateway-node  A pod lands"}},
		"scenarios for the shell":      {args: []string{"__complete", "demo", "cacheaware/gate"}, out: []string{"cacheaware/gateway-node\tA pod lands"}},
		"flag values for the shell":    {args: []string{"__complete", "up", "--crds", ""}, out: []string{"datashim\nfluid\n"}},
		"completion script":            {args: []string{"completion", "bash"}, out: []string{"bash completion"}},
		"controlplane alone":           {args: []string{"controlplane"}, out: []string{"build"}},
		"unknown command":              {args: []string{"demos"}, wantErr: []string{`unknown command "demos"`, "demo"}},
		"unknown subcommand":           {args: []string{"controlplane", "bild"}, wantErr: []string{`unknown command "bild"`}},
		"unknown flag":                 {args: []string{"demo", "--kep"}, wantErr: []string{"unknown flag: --kep", "see vicinity demo --help"}},
		"up takes no arguments":        {args: []string{"up", "now"}, wantErr: []string{`unknown command "now"`}},
		"unknown scenario":             {args: []string{"demo", "cacheaware/gateway-nod"}, wantErr: []string{"did you mean", "cacheaware/gateway-node"}},
		"unknown output":               {args: []string{"demo", "-o", "yaml"}, wantErr: []string{`"yaml"`, "text or json"}},
		"every flag of up is checked":  {args: []string{"up", "--nodes=-1", "--with=scheduler", "--crds=rook", "--kubeconfig-out="}, wantErr: []string{"--nodes", "--with", "--crds", "--kubeconfig-out"}},
		"scheduler config is absent":   {args: []string{"up", "--scheduler-config", "no-such-file"}, wantErr: []string{"--scheduler-config", "no-such-file"}},
		"scheduler config is no one's": {args: []string{"up", "--scheduler-config", "main.go"}, wantErr: []string{"--scheduler-config main.go"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			program := tc.program
			if program == "" {
				program = "vicinity"
			}
			stdout, _, err := execute(t, program, tc.args...)
			if len(tc.wantErr) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.wantErr {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("want an error with %q, found %v", want, err)
				}
			}
			for _, want := range tc.out {
				if !strings.Contains(stdout, want) {
					t.Errorf("want %q on stdout, found:\n%s", want, stdout)
				}
			}
			if len(tc.wantErr) > 0 && stdout != "" {
				t.Errorf("want nothing on stdout besides an error, found:\n%s", stdout)
			}
		})
	}
}

// The programs that up and demo start are not beside a test.
func TestMissingProgramsAreNoticedBeforeAnythingStarts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, args := range [][]string{{"demo", "cacheaware/gateway-node"}, {"up"}} {
		_, stderr, err := execute(t, "vicinity", args...)
		if err == nil || !strings.Contains(err.Error(), "vicinity-scheduler") || !strings.Contains(err.Error(), "make build") {
			t.Errorf("%v: want an error that says what is missing and how to build it, found %v", args, err)
		}
		if stderr != "" {
			t.Errorf("%v: want no progress before the error, found %s", args, stderr)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // flags of tests are declared like this

func results() []scenario.Result {
	return []scenario.Result{
		{Scenario: "cacheaware/gateway-node", Plugin: "cacheaware", Pod: "testpod", Node: "m02", OK: true, Reason: "gateway of dataset <d>", Seconds: 0.5},
		{Scenario: "cacheaware/malformed-labels", Plugin: "cacheaware", Pod: "bad-index", OK: true, Reason: "the label\nis   at fault", Seconds: 1.25},
		{Scenario: "cacheaware/pvc-only", Plugin: "cacheaware", Pod: "claim-by-name,claim-by-label", Node: "m01", Reason: "want m02, found m01", Seconds: 20},
		{Scenario: "cacheaware/no-datashim", Plugin: "cacheaware", Reason: "not run: no cluster"},
		{Scenario: "cacheaware/no-datasets", Plugin: "cacheaware", Pod: "p", Node: "n", OK: true},
	}
}

func TestReporter(t *testing.T) {
	catalogue, err := format.Load(scenarios.FS())
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{"text", "json"} {
		t.Run(output, func(t *testing.T) {
			var out bytes.Buffer
			report := reporter(output, &out, catalogue)
			for _, r := range results() {
				report(r)
			}
			golden := filepath.Join("testdata", "results."+output)
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("output (-want +got); `go test ./cmd/vicinity -update` accepts it:\n%s", diff)
			}
		})
	}
}

func TestSummarise(t *testing.T) {
	var errOut bytes.Buffer
	err := summarise(results(), 90*time.Second, &errOut)
	if err == nil || err.Error() != "2 of 5 scenarios failed: cacheaware/pvc-only, cacheaware/no-datashim" {
		t.Errorf("want an error that names the failed scenarios, found %v", err)
	}
	if err := summarise(results()[:2], 90*time.Second, &errOut); err != nil || errOut.String() != "2 of 2 scenarios ok in 1m30s\n" {
		t.Errorf("want a summary, found %q and error %v", errOut.String(), err)
	}
}

func TestLayOut(t *testing.T) {
	for _, n := range []int{0, 1, 6, 100, 1000} {
		zones, racks, names := map[string]int{}, map[string]int{}, map[string]bool{}
		for _, node := range layOut(n) {
			zones[node.Region+"/"+node.Zone]++
			racks[node.Zone+"/"+node.Rack]++
			names[node.Name] = true
		}
		if len(names) != n {
			t.Errorf("%d nodes: want as many names, found %d", n, len(names))
		}
		for zone, size := range zones {
			if fair := n / 3; size < fair || size > fair+1 {
				t.Errorf("%d nodes: want a third of them in zone %s, found %d", n, zone, size)
			}
		}
		for rack, size := range racks {
			if size > rackSize {
				t.Errorf("%d nodes: want at most %d in rack %s, found %d", n, rackSize, rack, size)
			}
		}
		if n >= 6 && (len(zones) != 3 || len(racks) < 6) {
			t.Errorf("%d nodes: want three zones with two racks or more, found %v and %v", n, zones, racks)
		}
	}
	var names []string
	for _, node := range layOut(100) {
		names = append(names, node.Name)
	}
	if !slices.IsSorted(names) {
		t.Errorf("want names that sort like numbers, found %v", names)
	}
}

func TestWriteKubeconfig(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "new", "kubeconfig")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("older"), 0o644); err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	remove, err := writeKubeconfig(path, []byte("secret"), &errOut)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("want mode 0600, found %o", mode)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "secret" {
		t.Errorf("want the content, found %q and error %v", got, err)
	}
	remove()
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want the file and its empty folder to be gone, found %v", err)
	}
	if errOut.String() != "" {
		t.Errorf("want no complaint, found %s", errOut.String())
	}

	if remove, err = writeKubeconfig(path, []byte("of the first"), &errOut); err != nil {
		t.Fatal(err)
	}
	if _, err := writeKubeconfig(path, []byte("of the second"), &errOut); err != nil {
		t.Fatal(err)
	}
	remove()
	if got, err := os.ReadFile(path); err != nil || string(got) != "of the second" {
		t.Errorf("want the file that another run has written to stay, found %q and error %v", got, err)
	}
}

func TestPlaceExecutable(t *testing.T) {
	folder := t.TempDir()
	from, to := filepath.Join(folder, "cache", "kubectl"), filepath.Join(folder, "bin", "kubectl")
	for _, file := range []string{from, to} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(from, []byte("new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := placeExecutable(from, to); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "copied")
	if err := copyExecutable(from, copied); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{to, copied} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(content) != "new" || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("want the program at %s, found %q with mode %s", file, content, info.Mode())
		}
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) != 1 {
		t.Errorf("want nothing but the program, found %v and error %v", left, err)
	}
	if err := placeExecutable(filepath.Join(folder, "absent"), to); err == nil {
		t.Error("want an error when there is nothing to place")
	}
}
