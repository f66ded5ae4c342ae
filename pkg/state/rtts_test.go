package state

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2/ktesting"
	"sigs.k8s.io/yaml"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

func rttObject(t *testing.T, name, status string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := fmt.Sprintf("{apiVersion: vicinity.dev/v1alpha1, kind: NodeRTT, metadata: {name: %s}, status: %s}", name, status)
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const reportOfN1 = `{observedAt: "2026-01-01T00:00:00Z", peers: [
	{node: n2, source: Agent, observedAt: "2026-01-01T00:00:00Z", samples: 20, p50Microseconds: 340, p99Microseconds: 900, lossPartsPerMillion: 50000},
	{node: n2, source: Goldpinger, observedAt: "2026-01-01T00:00:00Z", samples: 1, p50Microseconds: 1000},
	{node: n3, source: Agent, observedAt: "2026-01-01T00:00:00Z", samples: 20, lossPartsPerMillion: 1000000}],
	endpoints: [{endpoint: "db:5432", observedAt: "2026-01-01T00:00:00Z", samples: 20, p50Microseconds: 7000}],
	coordinate: {vectorMicroseconds: [0, 0, 0, 0, 0, 0, 0, 0], heightMicroseconds: 100, errorPartsPerMillion: 100000, adjustmentMicroseconds: -7}}`

func TestReportsOfRoundTripTimes(t *testing.T) {
	malformed := newMalformed()
	r := newRTTs(malformed)
	r.set(rttObject(t, "n1", reportOfN1))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	want := []delay.Sample{
		{
			P50: 340 * time.Microsecond, P99: 900 * time.Microsecond, HasP99: true, Known: true, Loss: 50000, Count: 20,
			ObservedAt: at.Local(), Source: delay.SourceAgent,
		},
		{P50: time.Millisecond, Known: true, Count: 1, ObservedAt: at.Local(), Source: delay.SourceGoldpinger},
	}
	if diff := cmp.Diff(want, r.store.Samples("n1", "n2")); diff != "" {
		t.Errorf("n1 to n2 (-want +got):\n%s", diff)
	}
	if got, ok := r.store.Lookup("n1", "n3"); !ok || got.Known || got.Answered() {
		t.Errorf("n1 to n3 is %+v, %v; want no answer", got, ok)
	}
	if got, _ := r.store.Lookup("n1", delay.EndpointName("db:5432")); got.P50 != 7*time.Millisecond {
		t.Errorf("the endpoint is at %s, want 7ms", got.P50)
	}
	r.set(rttObject(t, "n2", `{coordinate: {vectorMicroseconds: [1000, 0, 0, 0, 0, 0, 0, 0], heightMicroseconds: 100, errorPartsPerMillion: 100000}}`))
	// 1000 and both heights of 100, less the adjustment of 7.
	if got, ok := r.store.Estimate("n1", "n2"); !ok || got.Delay != 1193*time.Microsecond {
		t.Errorf("estimate %+v, %v; want 1.193ms", got, ok)
	}
	if got := testutil.ToFloat64(malformed.WithLabelValues(rttsResource)); got != 0 {
		t.Errorf("%v faults counted", got)
	}
	r.remove("n1")
	if got := r.store.Samples("n1", "n2"); got != nil {
		t.Errorf("after the object was removed: %v", got)
	}
}

func TestReportsWithFaults(t *testing.T) {
	const p = `{node: n2, source: Agent, observedAt: "2026-01-01T00:00:00Z", samples: 1, `
	cases := map[string]struct {
		status string
		faults float64
	}{
		"a time that is none":             {`{observedAt: yesterday}`, 1},
		"peers that are no list":          {`{peers: {}}`, 1},
		"a source that nobody knows":      {`{peers: [{node: n2, source: Rumour, samples: 1, p50Microseconds: 1}]}`, 1},
		"files are not told by objects":   {`{peers: [{node: n2, source: Files, samples: 1, p50Microseconds: 1}]}`, 1},
		"a negative time":                 {`{peers: [` + p + `p50Microseconds: -5}]}`, 1},
		"a time that overflows":           {fmt.Sprintf(`{peers: [%sp50Microseconds: %d}]}`, p, int64(math.MaxInt64)), 1},
		"a percentile below the median":   {`{peers: [` + p + `p50Microseconds: 5, p99Microseconds: 4}]}`, 1},
		"more lost than sent":             {`{peers: [` + p + `p50Microseconds: 5, lossPartsPerMillion: 1000001}]}`, 1},
		"a node that is an endpoint":      {`{peers: [{node: endpoint/x, source: Agent, samples: 1, p50Microseconds: 1}]}`, 1},
		"itself":                          {`{peers: [{node: n1, source: Agent, samples: 1, p50Microseconds: 1}]}`, 1},
		"a coordinate of two dimensions":  {`{coordinate: {vectorMicroseconds: [1, 2], heightMicroseconds: 1, errorPartsPerMillion: 1}}`, 1},
		"one fault hides no other report": {`{peers: [` + p + `p50Microseconds: -5}, {node: n3, source: Agent, samples: 1, p50Microseconds: 1}]}`, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			malformed := newMalformed()
			r := newRTTs(malformed)
			r.set(rttObject(t, "n1", tc.status))
			if got := testutil.ToFloat64(malformed.WithLabelValues(rttsResource)); got != tc.faults {
				t.Errorf("%v faults counted, want %v", got, tc.faults)
			}
			if _, ok := r.store.Lookup("n1", "n2"); ok {
				t.Error("the faulty sample counts")
			}
		})
	}
}

func TestAMonitorThatIsRemovedLeavesTheOthers(t *testing.T) {
	r := newRTTs(newMalformed())
	r.set(rttObject(t, "n1", reportOfN1))
	r.set(rttObject(t, "n1", `{peers: [{node: n2, source: Goldpinger, observedAt: "2026-01-01T00:00:00Z", samples: 1, p50Microseconds: 1000}]}`))
	if got, ok := r.store.Lookup("n1", "n2"); !ok || got.Source != delay.SourceGoldpinger {
		t.Errorf("n1 to n2 is %+v, %v; want Goldpinger's", got, ok)
	}
}

// write replaces a file such that its version differs even on file systems that keep seconds.
func write(t *testing.T, path, content string, version int) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000+int64(version), 0)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestDelayFilesAreReadAgain(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	folder := t.TempDir()
	files := configv1.DelayFiles{Matrix: filepath.Join(folder, "matrix"), Metadata: filepath.Join(folder, "metadata")}
	r := newRTTs(newMalformed())
	w := newDelayFiles(files, r.store)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	expect := func(when string, failures float64, want map[string]time.Duration) {
		t.Helper()
		w.look(ctx, now)
		got := map[string]time.Duration{}
		for _, to := range []string{"b", "c"} {
			if sample, ok := r.store.Lookup("a", to); ok {
				got[to] = sample.P50
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		if counted := testutil.ToFloat64(w.failures); counted != failures {
			t.Errorf("%s: %v failures, want %v", when, counted, failures)
		}
	}
	expect("no files", 1, map[string]time.Duration{})
	write(t, files.Matrix, "0 10\n10 0\n", 1)
	expect("half of the files", 2, map[string]time.Duration{})
	write(t, files.Metadata, `{"a": 0, "b": 1}`, 1)
	expect("both", 2, map[string]time.Duration{"b": 10 * time.Millisecond})
	expect("nothing changed", 2, map[string]time.Duration{"b": 10 * time.Millisecond})
	write(t, files.Matrix, "0 10 NaN\n", 2)
	expect("a matrix that is not square, with NaN", 3, map[string]time.Duration{"b": 10 * time.Millisecond})
	write(t, files.Metadata, `{"a": 0, "b": 7}`, 2)
	expect("names of rows that are missing", 4, map[string]time.Duration{"b": 10 * time.Millisecond})
	write(t, files.Matrix, "0 0.4\n0.4 0\n", 3)
	write(t, files.Metadata, `{"a": 0, "c": 1}`, 3)
	expect("another node", 4, map[string]time.Duration{"c": 400 * time.Microsecond})
	// An agent's report about the node neither removes the file's row nor is beaten by it.
	r.set(rttObject(t, "a", `{peers: [{node: b, source: Agent, observedAt: "2026-01-01T00:00:00Z", samples: 1, p50Microseconds: 5000}]}`))
	expect("with an agent's report", 4, map[string]time.Duration{"b": 5 * time.Millisecond, "c": 400 * time.Microsecond})
	r.remove("a")
	expect("without it", 4, map[string]time.Duration{"c": 400 * time.Microsecond})
}

func TestWatchingDelayFilesEndsWithTheContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	folder := t.TempDir()
	files := configv1.DelayFiles{Matrix: filepath.Join(folder, "matrix"), Metadata: filepath.Join(folder, "metadata")}
	write(t, files.Matrix, "0 10\n10 0\n", 1)
	write(t, files.Metadata, `{"a": 0, "b": 1}`, 1)
	s := &State{rtts: newRTTs(newMalformed())}
	if err := s.WatchDelayFiles(ctx, files, prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.RTTs().Lookup("a", "b"); !ok {
		t.Error("the first pods do not find the file")
	}
}

// FuzzNodeRTT reads any JSON object as what somebody reports of a node: no panic, every sample in range, and nothing is
// left once it is gone.
func FuzzNodeRTT(f *testing.F) {
	f.Add([]byte(`{"status":{"observedAt":"2026-01-01T00:00:00Z","peers":[
		{"node":"n2","source":"Agent","observedAt":"2026-01-01T00:00:00Z","samples":20,"p50Microseconds":340,"p99Microseconds":900}],
		"endpoints":[{"endpoint":"db:1","observedAt":"2026-01-01T00:00:00Z","samples":1}],
		"coordinate":{"vectorMicroseconds":[1,2,3,4,5,6,7,8],"heightMicroseconds":1,"errorPartsPerMillion":1}}}`))
	f.Add([]byte(`{"status":{"peers":[null,{},[],"x"]}}`))
	f.Add([]byte(`{"status":{"peers":[{"node":"n2","source":"Static","p50Microseconds":1e300,"samples":-1,"lossPartsPerMillion":-7}]}}`))
	f.Add([]byte(`{"status":{"coordinate":{"vectorMicroseconds":[9223372036854775807,0,0,0,0,0,0,-9223372036854775808],"errorPartsPerMillion":-1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, ok := asObject(data)
		if !ok {
			return
		}
		r := newRTTs(newMalformed())
		r.store.SetNode("n1", "west")
		for range 2 {
			r.set(object)
			for _, name := range r.store.Names() {
				sample, ok := r.store.Lookup(object.GetName(), name)
				if ok && (sample.P50 < 0 || sample.P50 > delay.MaxDelay || sample.Loss < 0 || sample.Loss > delay.WholeLoss) {
					t.Fatalf("%s: %+v", name, sample)
				}
			}
			r.store.Refine(1000)
			r.store.Radius("n1", delay.Query{Max: time.Second, Percentile: delay.P99}, time.Unix(0, 0))
		}
		r.remove(object.GetName())
		if diff := cmp.Diff([]string{"n1"}, r.store.Names()); diff != "" {
			t.Fatalf("left behind (-want +got):\n%s", diff)
		}
	})
}
