package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// demoFiles are the round-trip times of the predecessor's demonstration: e1-e2 10, e2-e3 12, e1-e3 20 ms, the cloud 60.
func demoFiles(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	matrix, metadata := filepath.Join(folder, "m.txt"), filepath.Join(folder, "n.json")
	err := errors.Join(
		os.WriteFile(matrix, []byte("0 10 20 60\n10 0 12 60\n20 12 0 60\n60 60 60 0\n"), 0o600),
		os.WriteFile(metadata, []byte(`{"e1":0,"e2":1,"e3":2,"cloud":3}`), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--matrix", matrix, "--metadata", metadata}
}

func runRTT(t *testing.T, args ...string) string {
	t.Helper()
	stdout, _, err := execute(t, "vicinity", append([]string{"rtt"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}

// The exact radius of e2 at 13 ms is {e1, e2, e3}; the predecessor's clusters are {e1, e2} and {e3}, since e1 and e3 are 20
// ms apart.
func TestClustersLoseNodesThatTheRadiusHas(t *testing.T) {
	stdout := runRTT(t, append([]string{"cluster", "--max", "13ms", "-o", "json"}, demoFiles(t)...)...)
	var got boundView
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	want := boundView{
		MaxMicroseconds: 13000, Clusters: [][]string{{"cloud"}, {"e1", "e2"}, {"e3"}},
		Nodes: []boundNode{
			{Node: "cloud", Radius: []string{"cloud"}, Cluster: []string{"cloud"}},
			{Node: "e1", Radius: []string{"e1", "e2"}, Cluster: []string{"e1", "e2"}},
			{Node: "e2", Radius: []string{"e1", "e2", "e3"}, Cluster: []string{"e1", "e2"}, Lost: []string{"e3"}},
			{Node: "e3", Radius: []string{"e2", "e3"}, Cluster: []string{"e3"}, Lost: []string{"e2"}},
		},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := runRTT(t, append([]string{"cluster", "--max", "13ms", "e2"}, demoFiles(t)...)...)
	if !strings.Contains(text, "e1,e2,e3") || !strings.Contains(text, "Clusters within 13ms:\n  cloud\n  e1 e2\n  e3\n") {
		t.Errorf("found:\n%s", text)
	}
}

func TestThePictureOfAMatrix(t *testing.T) {
	got := runRTT(t, append([]string{"--heat"}, demoFiles(t)...)...)
	// From 10 to 60 ms on a logarithmic scale: 12 ms are a tenth of the way, 20 ms 39 %.
	const want = "cloud   0   ██████\n   e1   1 ██  · ░░\n   e2   2 ██·   · \n   e3   3 ██░░·   \n" +
		"          10.0ms nearest, 60.0ms farthest, \"?\" unknown, \"x\" cut; columns in the order of rows\n"
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if coloured := runRTT(t, append([]string{"--heat", "--color", "always"}, demoFiles(t)...)...); !strings.Contains(coloured, "\x1b[48;5;124m") {
		t.Errorf("no colours:\n%q", coloured)
	}
}

func TestWhatCountsBetweenTwoNodes(t *testing.T) {
	now := readAt()
	store := delay.NewStore()
	sample := func(p50 time.Duration, source delay.Source, age time.Duration, loss int32) delay.Sample {
		return delay.Sample{P50: p50, Known: true, Source: source, ObservedAt: now.Add(-age), Count: 10, Loss: loss}
	}
	update := func(from, to string, s delay.Sample) {
		store.Update(from, s.Source, []delay.PeerSample{{Peer: to, Sample: s}}, now)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		store.SetNode(name, "")
	}
	update("a", "b", sample(5*time.Millisecond, delay.SourceGoldpinger, time.Minute, 0))
	update("a", "b", sample(4200*time.Microsecond, delay.SourceAgent, 30*time.Second, 0))
	update("c", "a", sample(250*time.Microsecond, delay.SourceAgent, 10*time.Second, 200_000))
	view := &rttView{store: store, nodes: []string{"a", "b", "c", "d"}, now: now}

	var short strings.Builder
	if err := writeRTTs(&short, "", view.describe([]string{"a", "d"})); err != nil {
		t.Fatal(err)
	}
	const want = `
NODE PATHS SHORTEST MEDIAN LONGEST CUT SOURCES AGE
a 2 0.25ms 0.25ms 4.2ms 0 Agent 10s
d 0 <none> <none> <none> 0 <none> <none>
`
	if diff := gocmp.Diff(strings.Fields(want), strings.Fields(short.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var wide strings.Builder
	if err := writeRTTs(&wide, "wide", view.describe([]string{"a"})); err != nil {
		t.Fatal(err)
	}
	const wideWant = `
FROM TO P50 P99 LOSS SAMPLES SOURCE AGE
a c 0.25ms <none> 20.0% 10 Agent of c 10s
a b 4.2ms <none> 0.0% 10 Agent 30s
`
	if diff := gocmp.Diff(strings.Fields(wideWant), strings.Fields(wide.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	path := view.path("a", "b")
	if path.Counts == nil || path.Counts.Microseconds != 4200 || path.Counts.Kind != "measured" || len(path.Samples) != 2 {
		t.Errorf("a to b: %+v", path)
	}
	if path := view.path("b", "d"); len(path.Samples) != 0 {
		t.Errorf("b to d: %+v", path)
	}
}

func TestRTTRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"--matrix and --metadata belong together":            {"--matrix", "m.txt"},
		"--heat and --output exclude each other":             {"--heat", "-o", "json"},
		"m.txt: no such file":                                {"--matrix", "/nonexistent/m.txt", "--metadata", "/nonexistent/n.json"},
		`required flag(s) "max" not set`:                     {"cluster"},
		"--max: want a bound from 0 to 1h0m0s, found 2h0m0s": {"cluster", "--max", "2h"},
		"--layers: want rising bounds":                       {"cluster", "--max", "2ms", "--layers", "2ms,1ms"},
		"--matrix and --metadata: want the files to read":    {"import"},
		"--matrix and --metadata: want the files to write":   {"export"},
		"accepts 2 arg(s), received 1":                       {"path", "a"},
	} {
		if _, _, err := execute(t, "vicinity", append([]string{"rtt"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rtt %v: %v, want %s", args, err, want)
		}
	}
}
