package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// small is a run of three pods on two nodes with three GPUs together: one has its share, one waits 30 s, one finds none.
func small(policy string, second model.Binding) *Run {
	return &Run{
		Wall: 500 * time.Millisecond, Engine: "native",
		Result: &model.Result{
			Policy: policy, Trace: "tiny", Seed: 7, Decisions: 4,
			Nodes: []model.Node{{Name: "n0", GPUs: 1}, {Name: "n1", GPUs: 2}},
			Pods: []model.Pod{
				{Namespace: "a", Name: "p0", GPUs: 1, GPUMilli: 500},
				{Namespace: "a", Name: "p1", GPUs: 2, GPUMilli: 1000, Arrival: 10 * time.Second, Departure: time.Minute},
				{Namespace: "b", Name: "p2", CPUMilli: 9000, GPUs: 1, GPUMilli: 1000, GPUModels: []string{"A", "B"}},
			},
			Placements: []model.Placement{
				{Pod: 0, Binding: model.Binding{Node: 0, GPUs: []int{0}}},
				{Pod: 1, Binding: second, Arrived: 10 * time.Second, Placed: 40 * time.Second, Departed: 70 * time.Second, HasDeparted: true},
				{Pod: 2, Binding: model.Binding{Node: model.Unplaced}},
			},
			Curve: []model.CurvePoint{
				{ArrivedPercent: 0},
				{ArrivedPercent: 100, Allocation: 83.33333, FragCapacity: 10, FragRatio: 60},
				{ArrivedPercent: 117, Allocation: 83.33333, FragCapacity: 10, FragRatio: 60},
			},
			Stages: []model.Stage{{Tag: "InitSchedule", Usage: model.Usage{
				UsedGPUMilli: 2500, TotalGPUMilli: 3000, TotalGPUs: 3, UsedGPUs: 3, Frag: gpushare.Amounts{gpushare.Q2LackGPU: 300, gpushare.Q3Satisfied: 200},
			}}},
		},
	}
}

func onSecond() model.Binding { return model.Binding{Node: 1, GPUs: []int{0, 1}} }

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, small("FGD", onSecond()), true); err != nil {
		t.Fatal(err)
	}
	// Four decisions in half a second are 8 a second.
	const want = `{"schema":"vicinity.simulation/v1","policy":"FGD","trace":"tiny","seed":7,"nodes":2,"gpus":3,"pods":3,"scheduled":2,` +
		`"unscheduled":1,"allocation":{"0":0,"100":83.3333,"117":83.3333},"fragRatio":{"0":0,"100":60,"117":60},"wallSeconds":0.5,` +
		`"decisionsPerSecond":8,"engine":"native","placements":[{"pod":"a/p0","node":"n0","gpus":[0]},{"pod":"a/p1","node":"n1","gpus":[0,1]},` +
		`{"pod":"b/p2","node":null,"gpus":[]}]}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	var back Document
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ToDocument(small("FGD", onSecond()), true), &back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestCurveRefusesOtherKeys(t *testing.T) {
	for _, text := range []string{`{"a":1}`, `{"-1":1}`, `{"1000000":1}`, `[1]`, `{"1":"x"}`} {
		var c Curve
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s: want an error, found %v", text, c)
		}
	}
}

func TestCompare(t *testing.T) {
	a, b := small("FGD", onSecond()), small("BestFit", model.Binding{Node: model.Unplaced})
	b.Placements[0].Binding = model.Binding{Node: 1, GPUs: []int{0}}
	b.Curve[1].Allocation, b.Curve[2].Allocation = 80, 82
	got := Compare(a, b)
	// Differences at 100 and 117 %: -3.3333 and -1.3333; mean -2.3333, deviation sqrt(1 + 1) = 1.4142, error 1.4142 / sqrt 2 = 1.
	want := Differences{
		Allocation:     Curve{{0, 0}, {100, -3.3333}, {117, -1.3333}},
		MeanAllocation: Estimate{Mean: -2.3333, StandardError: 1, Pairs: 2},
		Pods:           PodDifferences{OtherNode: 1, OnlyA: 1, Neither: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	b.Pods[2].Name = "other"
	if d := Compare(a, b).Pods; d.OnlyInOneRun != 2 {
		t.Errorf("want one pod of each run without its pair, found %+v", d)
	}
}

func TestTables(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	if err := WriteTables(folder, small("FGD", onSecond())); err != nil {
		t.Fatal(err)
	}
	read := func(name string) [][]string {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	allocated := read("analysis_allo_discrete.csv")
	if diff := cmp.Diff([]string{"workload", "sc_policy", "tune", "seed", "total_gpus", "0", "1"}, allocated[0][:7]); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"tiny", "FGD", "1.17", "7", "3", "0.00", ""}, allocated[1][:7]); diff != "" || allocated[1][105] != "83.33" {
		t.Errorf("want 83.33 at 100 %%, found %s; row (-want +got):\n%s", allocated[1][105], diff)
	}
	if ratio := read("analysis_frag_ratio_discrete.csv"); ratio[1][104] != "60.00" || len(ratio[0]) != len(allocated[0])-1 {
		t.Errorf("want 60.00 at 100 %% and no column of GPUs, found %q", ratio[1])
	}
	want := [][]string{
		{"order", "workload", "sc_policy", "tune", "seed", "num_pod", "cpu_milli", "num_gpu", "gpu_milli", "gpu_type_req"},
		{"2", "tiny", "FGD", "1.17", "7", "1", "9000", "1", "1000", "A|B"},
	}
	if diff := cmp.Diff(want, read("analysis_fail.csv")); diff != "" {
		t.Errorf("failed pods (-want +got):\n%s", diff)
	}
}

func TestDistributions(t *testing.T) {
	r := small("FGD", onSecond())
	// Two pods were placed, after 0 s and 30 s; one ended, a minute after it came.
	if p := r.Pending(); len(p) != 2 || p.Quantile(0.5) != 0 || p.Quantile(0.51) != 30*time.Second || p.Quantile(1) != 30*time.Second {
		t.Errorf("want 0 s and 30 s, found %v", p)
	}
	if c := r.Completion(); len(c) != 1 || c.Quantile(0.99) != time.Minute {
		t.Errorf("want one minute, found %v", c)
	}
	if q := (Distribution{}).Quantile(0.5); q != 0 {
		t.Errorf("want 0 of nothing, found %v", q)
	}
}

func TestFairness(t *testing.T) {
	groups := small("FGD", onSecond()).Groups()
	want := []Group{{Name: "a", Pods: 2, Scheduled: 2, GPUMilli: 2500, PlacedMilli: 2500}, {Name: "b", Pods: 1, GPUMilli: 1000}}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	// One of two groups has all: (1 + 0)^2 / (2 x (1 + 0)) = 1/2.
	if f := Fairness(groups); math.Abs(f-0.5) > 1e-9 {
		t.Errorf("want 0.5, found %v", f)
	}
	if f := Fairness(nil); f != 1 {
		t.Errorf("want 1 when there is nobody to be unfair to, found %v", f)
	}
}

func TestPage(t *testing.T) {
	timeline := &Timeline{}
	for i := range 3 {
		timeline.Observe(&model.Event{Usage: &model.Usage{
			TotalGPUMilli: 3000, ArrivedGPUMilli: int64(i) * 1500, Frag: gpushare.Amounts{gpushare.Q3Satisfied: 1000},
		}})
	}
	a, b := small("FGD</script><b>", onSecond()), small("BestFit", model.Binding{Node: model.Unplaced})
	var out bytes.Buffer
	if err := WritePage(&out, PageRun{a, timeline}, PageRun{b, timeline}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"A: FGD&lt;/script&gt;", "B: BestFit", "Placed by A only", "Pending, median", "Completion time", "MIT licence"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in the page", want)
		}
	}
	if strings.Contains(text, "FGD</script>") {
		t.Error("want names escaped in the script, too")
	}
	if strings.Contains(text, "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'") == false {
		t.Error("want a page that may not load anything")
	}
	if err := WritePage(&out); err == nil {
		t.Error("want an error without a run")
	}
}

// A run without GPUs, times or pods still makes a page.
func TestPageOfNothing(t *testing.T) {
	var out bytes.Buffer
	if err := WritePage(&out, PageRun{&Run{Result: &model.Result{Nodes: []model.Node{{Name: "n"}}}}, nil}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The trace has no times", "The cluster has no GPUs"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want the note %q", want)
		}
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{
		0.04: "0.0 s", 9.94: "9.9 s", 60: "60 s", 600: "10 min", 7200: "2.0 h", 200000: "2.3 d",
	} {
		if got := span(seconds); got != want {
			t.Errorf("%v: want %s, found %s", seconds, want, got)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", -1234567: "-1\u202f234\u202f567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: want %s, found %s", n, want, got)
		}
	}
}

func TestWhatDataCosts(t *testing.T) {
	r := small("FGD", onSecond())
	if _, found := r.Stalled(); found {
		t.Error("want nothing of pods that read nothing")
	}
	r.Pods[0].Datasets = []string{"d"}
	r.Placements[0].StageIn, r.Placements[0].Stalled = 10*time.Second, 5*time.Second
	r.Placements[0].Fetched = [model.Distances]int64{model.SameRack: 1, model.SameZone: 10, model.OtherZone: 100, model.Store: 1000}
	r.Placements[0].PeerRTT, r.Placements[0].HasPeerRTT, r.Placements[1].Restarts = time.Millisecond, true, 2
	d := ToDocument(r, false)
	if d.StallSeconds == nil || *d.StallSeconds != 15 || d.CrossRackBytes == nil || *d.CrossRackBytes != 1110 {
		t.Errorf("want 15 s and 10 + 100 + 1000 bytes, found %v and %v", d.StallSeconds, d.CrossRackBytes)
	}
	rows := figures([]PageRun{{Run: r}})
	found := map[string]string{}
	for _, row := range rows {
		found[row.Name] = row.Values[0]
	}
	for name, want := range map[string]string{"Stalled": "15 s", "Bytes across racks": "0.0 GiB", "Round trip to peers": "1000 µs", "Restarts": "2"} {
		if found[name] != want {
			t.Errorf("%s: want %s, found %q", name, want, found[name])
		}
	}
}

func TestSnapshots(t *testing.T) {
	r := small("FGD", onSecond())
	r.Nodes[0].GPUModel, r.Nodes[0].CPUMilli, r.Nodes[0].MemoryBytes = "T4", 4000, 1<<30
	r.Stages[0].Placements = r.Placements
	r.Stages[0].NodesLeft = []model.NodeLeft{{CPUMilli: 3000, MemoryBytes: 1 << 29, GPUMilli: []int{500}, Pods: 1}, {GPUMilli: []int{0, 0}, Pods: 1}}
	folder := t.TempDir()
	if err := WriteSnapshots(filepath.Join(folder, "t"), filepath.Join(folder, "m"), r); err != nil {
		t.Fatal(err)
	}
	nodes, err := os.ReadFile(filepath.Join(folder, "t", "InitSchedule", "node-snapshot.csv"))
	if err != nil {
		t.Fatal(err)
	}
	// Half of a T4's 15,109 MiB are 7,554.
	want := "n0,,T4,4000,1,1024,15109,1,3000,512,500,7554" + strings.Repeat(",0,0", 7) + ",500,7554\n"
	if !strings.Contains(string(nodes), want) {
		t.Errorf("want the row %q in:\n%s", want, nodes)
	}
	pods, err := os.ReadFile(filepath.Join(folder, "t", "InitSchedule", "pod-snapshot.csv"))
	if err != nil || !strings.Contains(string(pods), "p0,a,,0,0,1,0,50,500,T4,15109,7554,<none>,\n") || strings.Contains(string(pods), "p2") {
		t.Errorf("want the pods that have a node, found error %v and:\n%s", err, pods)
	}
	manifests, err := os.ReadFile(filepath.Join(folder, "m", "InitSchedule", "pod-snapshot.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"alibabacloud.com/gpu-index: 0-1", "kubernetes.io/hostname: n1", "simon/pod-unscheduled: \"true\""} {
		if !strings.Contains(string(manifests), want) {
			t.Errorf("want %q in:\n%s", want, manifests)
		}
	}
	if err := WriteSnapshots("", "", r); err != nil {
		t.Errorf("want nothing to do, found %v", err)
	}
}
