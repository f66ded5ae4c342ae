package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/explain"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// answering is a service that gives fixed answers by path and remembers the last question. The real one is tried with a
// real API server in pkg/decisions/api; what counts here is what the command line asks and how it shows the answers.
func answering(t *testing.T, answers map[string]any) (questions func() []string) {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, `{"error":"who are you?"}`, http.StatusUnauthorized)
			return
		}
		asked = append(asked, r.URL.Path+"?"+r.URL.RawQuery)
		answer, found := answers[strings.TrimPrefix(r.URL.Path, "/api/v1/")]
		if !found {
			http.Error(w, `{"error":"nothing is known of it"}`, http.StatusNotFound)
			return
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv(serviceVariable, server.URL)
	t.Setenv(tokenVariable, "secret")
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	return func() []string { return asked }
}

// runCommand runs the command line and returns what it writes.
func runCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRootCommand("vicinity")
	var out bytes.Buffer
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func history() api.PodHistory {
	r := storetest.Bound("s", 1)
	return api.PodHistory{
		Pod: api.Pod{Namespace: "team", Name: "web-0", Node: "node-1", Bound: storetest.Epoch()},
		Attempts: []api.Explained{
			{
				Decision:    api.Decision{Attempt: 2, Time: storetest.Epoch(), TookMs: 4, QueuedMs: 2, Outcome: trace.OutcomeBound},
				Explanation: explain.Attempt(r), WhyNot: "node-41 was rejected: NodeResourcesFit, Insufficient cpu.",
			},
			{Decision: api.Decision{Attempt: 1}, Explanation: explain.Explanation{Headline: "\x1b[2JThe pod has no node."}},
		},
	}
}

func TestExplainAPod(t *testing.T) {
	questions := answering(t, map[string]any{"pods/team/web-0": history()})
	got, err := runCommand(t, "explain", "pod", "web-0", "-n", "team", "--node", "node-41")
	if err != nil {
		t.Fatal(err)
	}
	want := `Pod team/web-0
  bound    2030-01-01T10:00:00Z

Attempt 2, 2030-01-01T10:00:00Z, took 4.0 ms after 2.0 ms in the queue
  The pod is on node-1: the highest score of 60 nodes that passed every filter, 120 ahead of runner-up-1.
  - node-1 scored 1580: CacheAware 1000, DiskIO 500, NodeResourcesFit 80.
  - CacheAware: images 100 % of 40Gi are on this node.
  - Ahead of runner-up-1 through CacheAware (+200), although NodeResourcesFit (-1) spoke against it.
  - 40 nodes were rejected: NodeResourcesFit, Insufficient cpu (node-41, node-42, ...).
  Why not there: node-41 was rejected: NodeResourcesFit, Insufficient cpu.

1 earlier attempts are known: --attempts shows them.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/api/v1/pods/team/web-0?node=node-41"}, questions()); diff != "" {
		t.Errorf("asked (-want +got)\n%s", diff)
	}
	if got, err = runCommand(t, "explain", "pod/web-0", "-n", "team", "--attempts"); err != nil || strings.Contains(got, "\x1b") || !strings.Contains(got, "The pod has no node.") {
		t.Errorf("all attempts: %v\n%q", err, got)
	}
}

func TestExplainPending(t *testing.T) {
	questions := answering(t, map[string]any{"pending": api.PendingList{Items: []api.PendingGroup{
		{Plugin: "DiskIO", Reason: "too slow", Pods: 7, Sample: []api.Pod{{Namespace: "a", Name: "b"}}}, {Pods: 1},
	}}})
	got, err := runCommand(t, "explain", "--pending", "-A")
	if err != nil {
		t.Fatal(err)
	}
	want := "PODS   OLDEST   PLUGIN   REASON     SUCH AS\n7      -        DiskIO   too slow   a/b\n1      -        -        -          \n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/api/v1/pending?sample=5"}, questions()); diff != "" {
		t.Errorf("asked (-want +got)\n%s", diff)
	}
}

func TestExplainFromRecords(t *testing.T) {
	var lines bytes.Buffer
	attempt, victims := storetest.Unschedulable("s", 1, "DiskIO", "too slow"), storetest.Bound("s", 2)
	victims.Pod, victims.Kind = attempt.Pod, trace.KindVictims
	victims.Preemption = &trace.Preemption{NominatedNode: "n9", Victims: []trace.Victim{{Namespace: "low", Name: "priority"}}}
	for _, r := range []*trace.Record{storetest.Bound("s", 5), attempt, victims} {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	file := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := runCommand(t, "explain", "pod-1", "--file", file, "--node", "node-77")
	for _, want := range []string{"none of 100 nodes took it", "by removing low/priority", "Ask for less in annotation", "does not name node-77", fullRecordHint} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%v: want %q in\n%s", err, want, got)
		}
	}
	if _, err := runCommand(t, "explain", "nobody", "--file", file); err == nil {
		t.Error("a pod without records: want an error")
	}
}

func TestExplainRefuses(t *testing.T) {
	answering(t, nil)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":           {[]string{"explain"}, "want the name of a pod or --pending"},
		"both":              {[]string{"explain", "x", "--pending"}, "and not both"},
		"another kind":      {[]string{"explain", "node", "x"}, "only pods can be explained"},
		"two sources":       {[]string{"explain", "x", "--file", "a", "--socket", "b"}, "exclude each other"},
		"unknown pod":       {[]string{"explain", "x"}, "nothing is known of it"},
		"a wrong token":     {[]string{"explain", "x", "--token", "wrong"}, "who are you?"},
		"a negative number": {[]string{"occupancy", "--intervals", "-1"}, "want a number from 1 to 500"},
		"an unknown form":   {[]string{"occupancy", "-o", "xml"}, "want one of"},
	} {
		if _, err := runCommand(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func at(seconds int) time.Time { return storetest.Epoch().Add(time.Duration(seconds) * time.Second) }

// stays are three pods on two nodes: on a from 0 to 10 s, on b from 0 to 5 s, and one that has not ended.
func stays() api.PodList {
	return api.PodList{Items: []api.Pod{
		{Name: "one", Node: "a", Decided: at(0).Add(-time.Millisecond), Bound: at(0), Started: at(1), Ended: at(10)},
		{Name: "two", Node: "b", Bound: at(0), Ended: at(5)},
		{Name: "open", Node: "b", Bound: at(2)},
	}}
}

// TestOccupancyFiles: four intervals of 2.5 s from 0 to 10 s. Pod one begins at t(0), not before, so it is in intervals 1
// to 3; pod two, until 5 s = t(2), is in interval 1 only; the open one does not count.
func TestOccupancyFiles(t *testing.T) {
	answering(t, map[string]any{"stays": stays(), "occupancy": api.Occupancy{
		Since: at(0), Until: at(20), Intervals: 2, Nodes: []string{"a", "b"}, Cells: [][3]int{{0, 0, 3}, {1, 1, 12}}, Highest: 12,
	}})
	got, err := runCommand(t, "occupancy", "-o", "nodes.json", "--intervals", "4", "--title", "exp")
	if err != nil {
		t.Fatal(err)
	}
	var plots []nodePlot
	if err := json.Unmarshal([]byte(got), &plots); err != nil {
		t.Fatal(err)
	}
	want := [][3]int{{0, 0, 0}, {0, 1, 0}, {1, 0, 1}, {1, 1, 1}, {2, 0, 1}, {2, 1, 0}, {3, 0, 1}, {3, 1, 0}}
	if diff := cmp.Diff(want, plots[0].Data.Values.Data); diff != "" || plots[0].Title != "exp" || len(plots) != 1 {
		t.Errorf("plots %+v (-want +got)\n%s", plots, diff)
	}
	if !strings.Contains(got, `"chart_options": {}`) {
		t.Errorf("no chart_options in\n%s", got)
	}

	if got, err = runCommand(t, "occupancy", "-o", "pod-times.json"); err != nil {
		t.Fatal(err)
	}
	var times map[string]podTime
	if err := json.Unmarshal([]byte(got), &times); err != nil {
		t.Fatal(err)
	}
	wantTimes := map[string]podTime{
		"one":  {"2030-01-01 10:00:00.000000", "2030-01-01 10:00:10.000000", "2030-01-01 10:00:01.000000", "2030-01-01 09:59:59.999000"},
		"two":  {Start: "2030-01-01 10:00:00.000000", End: "2030-01-01 10:00:05.000000"},
		"open": {Start: "2030-01-01 10:00:02.000000"},
	}
	if diff := cmp.Diff(wantTimes, times); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	if got, err = runCommand(t, "occupancy", "-A", "--last", "20s"); err != nil {
		t.Fatal(err)
	}
	head := "NODE  " + at(0).Local().Format("15:04:05") + "  " + at(10).Local().Format("15:04:05") + "\n"
	if diff := cmp.Diff(head+"a     3         .\nb     .         12\n", got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestPodTimesOfNamesakes: the predecessor gives up where a name comes twice.
func TestPodTimesOfNamesakes(t *testing.T) {
	got := podTimes([]api.Pod{{Namespace: "x", Name: "web-0", UID: "1"}, {Namespace: "y", Name: "web-0", UID: "2"}})
	if len(got) != 2 || got["x/web-0/1"].Start != "" {
		t.Errorf("found %v", got)
	}
}
