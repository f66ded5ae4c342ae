package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/records"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/replay"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// sharedData is data beside the repository that is no part of it; a test that needs it is skipped without.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("this test needs data that is no part of the project: %v", err)
	}
	return path
}

func rows(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

// TestSimulateGolden runs the command line on the input that the predecessor's own simulator was given, and compares
// every placement with what that did.
func TestSimulateGolden(t *testing.T) {
	golden, trace := sharedData(t, "simon-golden"), sharedData(t, "openb")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the golden input is written by a Python script, and there is no python3")
	}
	folder := t.TempDir()
	prepare := exec.CommandContext(t.Context(), python, filepath.Join(golden, "prepare.py"), trace, "default", "42", folder)
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("writing the input: %v\n%s", err, out)
	}
	fgd, err := os.ReadFile(filepath.Join(golden, "scheduler-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	bestFit := strings.ReplaceAll(strings.Replace(string(fgd), "gpuSelMethod: FGDScore", "gpuSelMethod: best", 1), "FGDScore", "BestFitScore")
	for name, config := range map[string]string{"fgd": string(fgd), "bestfit": bestFit} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scheduler.yaml")
			if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			stdout, _, err := execute(t, "vicinity", "simulate", "-f", filepath.Join(folder, "cluster-config.yaml"), "-s", path, "-o", "json", "--placements")
			if err != nil {
				t.Fatal(err)
			}
			var document report.Document
			if err := json.Unmarshal([]byte(stdout), &document); err != nil {
				t.Fatal(err)
			}
			compareWithGolden(t, &document, rows(t, filepath.Join(golden, "default-42-"+name+"-placements.csv")))
			for _, row := range rows(t, filepath.Join(golden, "default-42-"+name+"-curve.csv")) {
				for _, point := range document.Allocation {
					if got := fmt.Sprintf("%.4f", point.Value); fmt.Sprint(point.ArrivedPercent) == row[0] && got != row[1] {
						t.Errorf("at %s %% arrived: want %s %% allocated, found %s", row[0], row[1], got)
					}
				}
			}
		})
	}
}

func compareWithGolden(t *testing.T, document *report.Document, want [][]string) {
	t.Helper()
	if len(document.Placements) != len(want) || document.Pods != len(want) {
		t.Fatalf("want %d pods, found %d and %d placements", len(want), document.Pods, len(document.Placements))
	}
	different := 0
	for i, placed := range document.Placements {
		node := ""
		if placed.Node != nil {
			node = *placed.Node
		}
		gpus := strings.Trim(strings.ReplaceAll(fmt.Sprint(placed.GPUs), " ", "-"), "[]")
		got := []string{fmt.Sprint(i), strings.TrimPrefix(placed.Pod, "paib-gpu/"), node, gpus}
		if !cmp.Equal(want[i], got) {
			if different++; different <= 5 {
				t.Errorf("want %q, found %q", want[i], got)
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of %d placements are different", different, len(want))
	}
}

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

func TestSimulateReplaysRecords(t *testing.T) {
	t.Chdir(t.TempDir())
	record := `{"version":1,"session":"s","seq":%d,"kind":"Attempt","pod":{"namespace":"paib-gpu","name":%q,"uid":"u"},` +
		`"attempt":1,"start":"2026-01-01T00:00:0%dZ","outcome":"Bound","node":%q,"nodes":{"total":2}}` + "\n"
	for name, content := range map[string]string{
		"nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,1,T4\nb,8000,8192,2,T4\n",
		"pods.csv":  "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,1000\nq,100,1,2,1000\n",
		"r.jsonl":   fmt.Sprintf(record, 1, "p", 0, "b") + fmt.Sprintf(record, 3, "gone", 1, "b") + fmt.Sprintf(record, 4, "q", 2, "b"),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Best fit puts the pod with one GPU on the node with one; q goes where it was.
	stdout, stderr, err := execute(t, "vicinity", "simulate", "replay", "r.jsonl", "--nodes", "nodes.csv", "--pods", "pods.csv",
		"-p", "BestFit", "-o", "json", "--speed", "1000")
	if err != nil {
		t.Fatal(err)
	}
	var result replay.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	want := replay.Result{
		Schema: replay.Schema, Policies: []string{"BestFit"}, Attempts: 3, Pods: 2, Same: []int{1}, Unknown: []string{"paib-gpu/gone"},
		Gaps:        []records.Gap{{Session: "s", After: 1, Missing: 1}},
		Differences: []replay.Row{{Pod: "paib-gpu/p", Recorded: "b", Replayed: []string{"a"}}},
	}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	if !strings.Contains(stderr, "3 attempts of 3 pods, 1 missing in 1 gaps") || !strings.Contains(stderr, "paib-gpu/gone") {
		t.Errorf("want the gap and the unknown pod on stderr, found:\n%s", stderr)
	}
	for _, args := range [][]string{{"absent.jsonl", "--nodes", "nodes.csv"}, {"pods.csv", "--nodes", "nodes.csv"}, {"r.jsonl", "--nodes", "nodes.csv", "--speed", "-1"}} {
		_, _, err := execute(t, "vicinity", append([]string{"simulate", "replay"}, args...)...)
		if err == nil || exitStatus(err) != badInputStatus {
			t.Errorf("%q: want bad input, found %v", args, err)
		}
	}
}

func TestSimulateSweepGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,1,T4\nb,8000,8192,2,T4\n",
		"pods.csv":  "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,500\nq,100,1,2,1000\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep := []string{"simulate", "sweep", "--nodes", "nodes.csv", "--pods", "pods.csv", "--policies", "FGD,BestFit,FGD=1+BestFit=2", "--seeds", "1-4"}
	whole, _, err := execute(t, "vicinity", append(sweep, "-o", "csv", "--out", "whole")...)
	if err != nil || strings.Count(whole, "\n") != 13 {
		t.Fatalf("want a header and 3 x 4 rows, found error %v and:\n%s", err, whole)
	}
	for _, shard := range []string{"0/2", "1/2", "0/2"} {
		if _, _, err := execute(t, "vicinity", append(sweep, "--out", "shards", "--shard", shard)...); err != nil {
			t.Fatal(err)
		}
	}
	merged, _, err := execute(t, "vicinity", "simulate", "sweep", "merge", "shards", "-o", "csv")
	if err != nil || strings.Count(merged, "\n") != 13 {
		t.Errorf("want the shards to make the whole, found error %v and:\n%s", err, merged)
	}
	job, _, err := execute(t, "vicinity", append(sweep, "--job", "-", "--job-image", "i", "--job-claim", "c")...)
	if err != nil || !strings.Contains(job, "/data/nodes.csv") || !strings.Contains(job, "completionMode: Indexed") {
		t.Errorf("want an Indexed Job with paths in the claim, found error %v and:\n%s", err, job)
	}
	for _, args := range [][]string{{"--seeds", "x"}, {"--shard", "9/2"}, {"--policies", "x"}, {"--tune", "-1"}, {"--workers", "0"}, {"--job", "-"}} {
		_, _, err := execute(t, "vicinity", append(sweep, args...)...)
		if err == nil || exitStatus(err) != badInputStatus {
			t.Errorf("%q: want bad input, found %v", args, err)
		}
	}
}
