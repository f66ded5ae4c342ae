package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// sharedData is data beside the repository that is no part of it; a test that needs it is skipped without.
// TestSimulateGolden runs the command line on the input that the predecessor's own simulator was given, and compares
// every placement with what that did.
// TestSimulateQuickStart runs the predecessor's quick start as its README has it, with this program's name.
func TestSimulateQuickStart(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	const examples = "manifests/examples/simulate/"
	stdout, stderr, err := execute(t, "vicinity", "simulate", "apply", "--extended-resources", "gpu",
		"-f", examples+"test-cluster-config.yaml", "-s", examples+"test-scheduler-config.yaml")
	if err != nil || stderr != "" {
		t.Fatalf("want no complaint, found %v and %q", err, stderr)
	}
	for _, want := range []string{"cluster.KubeConfig=\n", "cluster.CustomCluster=cluster\n", "there are 0 unscheduled pods\nSuccess!\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("want %q in:\n%s", want, stdout)
		}
	}
	// Seed 233 draws the second and the third pod in turns. 4,500 of 6,000 milli are asked for when the next draw, of
	// two whole GPUs, would pass nine tenths: 4,500 + 1,000 > 5,400.
	stdout, _, err = execute(t, "vicinity", "simulate", "-f", examples+"test-cluster-config.yaml",
		"-s", examples+"test-scheduler-config.yaml", "-o", "json", "--placements")
	if err != nil {
		t.Fatal(err)
	}
	var document report.Document
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		t.Fatal(err)
	}
	var pods []string
	for _, placed := range document.Placements {
		if placed.Node == nil {
			t.Errorf("want a node for %s", placed.Pod)
		}
		pods = append(pods, strings.TrimPrefix(placed.Pod, "default/demo-"))
	}
	if diff := cmp.Diff([]string{"00", "01", "02", "01-tuned-0", "02-tuned-1", "01-tuned-2"}, pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

// limits of MaxCPU: 52 of 128 cores are requested, 40.6 %.
func TestSimulateApplyKnowsTheLimitsOfTheEnvironment(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	const examples = "manifests/examples/simulate/"
	for limit, want := range map[string]string{"41": "Success!", "40": "Failed!"} {
		t.Setenv("MaxCPU", limit)
		stdout, _, err := execute(t, "vicinity", "simulate", "apply", "-f", examples+"test-cluster-config.yaml", "-s", examples+"test-scheduler-config.yaml")
		if err != nil || !strings.HasSuffix(stdout, want+"\n") {
			t.Errorf("MaxCPU=%s: want %s and no error, found %v and:\n%s", limit, want, err, stdout)
		}
	}
}

func TestSimulateRefusesBadInput(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"nodes.csv":  "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,1,T4\n",
		"none.csv":   "sn,cpu_milli,memory_mib,gpu,model\n",
		"pods.csv":   "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,500\n",
		"cut.csv":    "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1\n",
		"other.csv":  "a,b\n",
		"bad.yaml":   "kind: KubeSchedulerConfiguration\n",
		"empty.yaml": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: []\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	tests := map[string]struct {
		args []string
		want []string
	}{
		"nothing to simulate":    {nil, []string{"-f with a configuration, --nodes and --pods, or --kubeconfig"}},
		"apply wants its file":   {[]string{"apply"}, []string{"-f: want a cluster configuration"}},
		"a file that is absent":  {[]string{"-f", "absent.yaml"}, []string{"absent.yaml"}},
		"an unknown policy":      {[]string{"--nodes", "nodes.csv", "-p", "fastest"}, []string{`unknown policy "fastest"`, "FGD"}},
		"flags with typos":       {[]string{"--nodes", "nodes.csv", "-o", "xml", "--engine", "x", "--tie-break", "y"}, []string{"--output", "--engine", "--tie-break", "firstByName"}},
		"an unknown flag":        {[]string{"--node", "nodes.csv"}, []string{"unknown flag: --node", "see vicinity simulate --help"}},
		"an extra argument":      {[]string{"--nodes", "nodes.csv", "x.yaml"}, []string{`unexpected argument "x.yaml"`}},
		"one to compare":         {[]string{"--nodes", "nodes.csv", "--compare", "FGD"}, []string{"--compare: want two"}},
		"two ways to decide":     {[]string{"--nodes", "nodes.csv", "-p", "FGD", "-s", "bad.yaml"}, []string{"want one of -s, --policy and --compare"}},
		"two clusters":           {[]string{"--nodes", "nodes.csv", "-f", "bad.yaml"}, []string{"want either -f or --nodes"}},
		"a truncated trace":      {[]string{"--nodes", "nodes.csv", "--pods", "cut.csv", "-p", "FGD"}, []string{"cut.csv:2: want 5 columns, found 3"}},
		"an empty cluster":       {[]string{"--nodes", "none.csv", "--pods", "pods.csv", "-p", "FGD"}, []string{"none.csv: the cluster has no nodes"}},
		"a table of other":       {[]string{"--nodes", "other.csv", "-p", "FGD"}, []string{"other.csv:1: want the columns"}},
		"not a scheduler":        {[]string{"--nodes", "nodes.csv", "-s", "bad.yaml"}, []string{"bad.yaml:1: apiVersion"}},
		"a scheduler of nothing": {[]string{"--nodes", "nodes.csv", "-s", "empty.yaml"}, []string{"empty.yaml:3: profiles"}},
		"names that are taken":   {[]string{"--nodes", "nodes.csv", "--nodes", "nodes.csv", "-p", "FGD"}, []string{"unique"}},
		"racks of nothing":       {[]string{"topology", "--servers-per-rack", "0"}, []string{"--servers-per-rack"}},
		"no folder":              {[]string{"topology", "--data-dir", "absent"}, []string{"absent"}},
		"an unknown resource":    {[]string{"--nodes", "nodes.csv", "-e", "tpu"}, []string{"--extended-resources", `"tpu"`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, _, err := execute(t, "vicinity", append([]string{"simulate"}, tc.args...)...)
			if err == nil {
				t.Fatal("want an error, found none")
			}
			if status := exitStatus(err); status != badInputStatus {
				t.Errorf("want exit status %d, found %d", badInputStatus, status)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in the error, found: %v", want, err)
				}
			}
			if stdout != "" {
				t.Errorf("want nothing on stdout besides an error, found:\n%s", stdout)
			}
		})
	}
}

// The predecessor's script finds its numbers with patterns like these.
func TestSimulateWritesThePredecessorsLog(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	const examples = "manifests/examples/simulate/"
	_, stderr, err := execute(t, "vicinity", "simulate", "-f", examples+"test-cluster-config.yaml",
		"-s", examples+"test-scheduler-config.yaml", "--log-format", "simon", "--bellman")
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{
		`level=info msg="\[\d+\] attempt to create pod\(\S+/\S+\)"`:                                                                     6,
		`level=info msg="\[Report\]; Frag amount: [\d.]+; Frag ratio: [\d.]+%; Q124 ratio: [\d.]+%; \(origin\)"`:                        6,
		`level=info msg="\[Report\]; Frag amount: [\d.]+; Frag ratio: [\d.]+%; \(bellman\)"`:                                            6,
		`level=info msg="\[Alloc\]; Used nodes: \d+; Used GPUs: \d+; Used GPU Milli: \d+; Total GPUs: 6; Arrived GPU Milli: \d+"`:       6,
		`level=info msg="========== Cluster Analysis Results \(InitSchedule\) =========="`:                                              1,
		`level=info msg="    MilliGpu\s*: 75.0% \(4500/6000\)"`:                                                                         1,
		`level=info msg="(q1_lack_both|q2_lack_gpu|q3_satisfied|q4_lack_cpu|xl_satisfied|xr_lack_cpu|no_access)\s*: +[\d.]+ x 10\^3 \(`: 7,
		`level=info msg="(idle|frag)_gpu_milli\s*: +[\d.]+ x 10\^3 \(`:                                                                  2,
	} {
		if found := len(regexp.MustCompile(pattern).FindAllString(stderr, -1)); found != want {
			t.Errorf("%s: want %d lines, found %d in:\n%s", pattern, want, found, stderr)
		}
	}
}

func TestSimulateComparesTwo(t *testing.T) {
	folder := t.TempDir()
	nodes, pods := "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,1,T4\nb,8000,8192,2,T4\n", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,500\nq,100,1,1,500\n"
	for name, content := range map[string]string{"nodes.csv": nodes, "pods.csv": pods} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	stdout, _, err := execute(t, "vicinity", "simulate", "--nodes", "nodes.csv", "--pods", "pods.csv", "--compare", "FGD", "BestFit",
		"-o", "json", "--html", "page.html", "--csv", "tables")
	if err != nil {
		t.Fatal(err)
	}
	var comparison report.Comparison
	if err := json.Unmarshal([]byte(stdout), &comparison); err != nil {
		t.Fatal(err)
	}
	if comparison.Schema != report.ComparisonSchema || comparison.A.Policy != "FGD" || comparison.B.Policy != "BestFit" {
		t.Errorf("want FGD and BestFit, found %s: %s and %s", comparison.Schema, comparison.A.Policy, comparison.B.Policy)
	}
	page, err := os.ReadFile("page.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{"<link", "<img", "src=", "@import", "fetch("} {
		if strings.Contains(string(page), outside) {
			t.Errorf("want a page that loads nothing, found %s", outside)
		}
	}
	for _, table := range []string{"analysis_allo_discrete.csv", "analysis_frag_discrete.csv", "analysis_frag_ratio_discrete.csv"} {
		if found := rows(t, filepath.Join("tables", table)); len(found) != 2 || found[0][1] != "FGD" || found[1][1] != "BestFit" {
			t.Errorf("%s: want a row for each policy, found %q", table, found)
		}
	}
}

func TestSimulateIsCompletedByTheShell(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"simulate", "--policy", "F"}, "FGD\n"},
		{[]string{"simulate", "--engine", ""}, "framework\n"},
		{[]string{"simulate", "apply", "--extended-resources", ""}, "gpu\nopen-local\n"},
		{[]string{"simulate", "sweep", "--policies", ""}, "GpuPacking\n"},
		{[]string{"simulate", "-s", ""}, "yaml\nyml\n"},
		{[]string{"simulate", "s"}, "sweep\t"},
	} {
		stdout, _, err := execute(t, "vicinity", append([]string{"__complete"}, tc.args...)...)
		if err != nil || !strings.Contains(stdout, tc.want) {
			t.Errorf("%q: want %q, found error %v and:\n%s", tc.args, tc.want, err, stdout)
		}
	}
}

// A run that a later one reads back: pods stay where they were.
func TestSimulateExportsWhatItCanReadAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	const config = "apiVersion: simon/v1alpha1\nkind: Config\nmetadata: {name: x}\nspec:\n  cluster: {customConfig: cluster}\n" +
		"  customConfig: {exportConfig: {podSnapshotYamlFilePrefix: out, nodeSnapshotCSVFilePrefix: out}}\n"
	const node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: %}\nstatus: {allocatable: {cpu: 8, memory: 16Gi, alibabacloud.com/gpu-count: 2}}\n"
	const pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %, annotations: {alibabacloud.com/gpu-count: \"2\"}}\n" +
		"spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n"
	named := func(template, name string) string { return strings.ReplaceAll(template, "%", name) }
	nodes := named(node, "m1") + named(node, "m2")
	pods := named(pod, "p1") + named(pod, "p2") + named(pod, "p3")
	if err := os.MkdirAll("cluster", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"c.yaml": config, "cluster/nodes.yaml": nodes, "cluster/pods.yaml": pods} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := placements(t, "-f", "c.yaml", "-p", "BestFit")
	again, _ := placements(t, "--nodes", "cluster/nodes.yaml", "--pods", "out/InitSchedule/pod-snapshot.yaml", "-p", "Random")
	if first.Scheduled != 2 || len(again.Placements) != 2 {
		t.Fatalf("want two pods with a node, and the third left out of the second run; found %+v and %+v", first, again)
	}
	for _, placed := range again.Placements {
		if !slices.ContainsFunc(first.Placements, func(p report.PlacementJSON) bool {
			return p.Pod == placed.Pod && p.Node != nil && placed.Node != nil && *p.Node == *placed.Node && slices.Equal(p.GPUs, placed.GPUs)
		}) {
			t.Errorf("%+v was elsewhere before: %+v", placed, first.Placements)
		}
	}
	if rows := rows(t, "out/InitSchedule/node-snapshot.csv"); len(rows) != 2 {
		t.Errorf("want two nodes, found %q", rows)
	}
}

// The bar says nothing of a sweep that is over at once, and else how far it is.

func TestTwoOfOneNameAreToldApart(t *testing.T) {
	for _, tc := range []struct{ files, want []string }{
		{[]string{"x/now.yaml", "then.yaml"}, []string{"FGD (now.yaml)", "FGD (then.yaml)"}},
		{[]string{"", ""}, []string{"FGD (a)", "FGD (b)"}},
	} {
		var choices []*schedconfig.Choice
		for _, file := range tc.files {
			choices = append(choices, &schedconfig.Choice{File: file, Native: &policy.Config{Name: "FGD"}})
		}
		tellApart(choices)
		if got := []string{choices[0].Name(), choices[1].Name()}; !slices.Equal(got, tc.want) {
			t.Errorf("want %q, found %q", tc.want, got)
		}
	}
	different := []*schedconfig.Choice{{Title: "A", File: "a"}, {Title: "B", File: "b"}}
	if tellApart(different); different[0].Name() != "A" || different[1].Name() != "B" {
		t.Errorf("want names that differ to stay, found %q and %q", different[0].Name(), different[1].Name())
	}
}
