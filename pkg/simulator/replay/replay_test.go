package replay

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/records"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

func experiment() *simulator.Experiment {
	return &simulator.Experiment{
		Cluster: model.Cluster{Nodes: []model.Node{{Name: "n1", CPUMilli: 1000}, {Name: "n2", CPUMilli: 3000}}},
		Pods:    []model.Pod{{Namespace: "a", Name: "p", CPUMilli: 900}, {Namespace: "a", Name: "unrecorded", CPUMilli: 1}},
		Daemons: []model.Pod{{Namespace: "a", Name: "q", CPUMilli: 900, Node: "n2"}, {Namespace: "a", Name: "daemon", CPUMilli: 50, Node: "n1"}},
		Policy:  policy.Config{Scorers: []policy.Scorer{{Name: policy.BestFit, Weight: 1}}},
	}
}

func trace() *records.Trace {
	return &records.Trace{
		Records: 4, Gaps: []records.Gap{{Session: "s", After: 1, Missing: 2}},
		Decisions: []records.Decision{
			{Pod: "a/q", Node: "n2", Attempts: 1}, {Pod: "a/p", Arrival: time.Second, Node: "n2", Attempts: 2}, {Pod: "a/gone", Arrival: 2 * time.Second, Node: "n1"},
		},
	}
}

func TestReplay(t *testing.T) {
	x := experiment()
	unknown := Apply(x, trace())
	if diff := cmp.Diff([]string{"a/gone"}, unknown); diff != "" {
		t.Errorf("unknown pods (-want +got):\n%s", diff)
	}
	want := []model.Pod{{Namespace: "a", Name: "q", CPUMilli: 900}, {Namespace: "a", Name: "p", CPUMilli: 900, Arrival: time.Second}}
	if diff := cmp.Diff(want, x.Pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if len(x.Daemons) != 1 || x.Daemons[0].Name != "daemon" {
		t.Errorf("want the bound pod that was recorded to be free, found %v", x.Daemons)
	}
	result, err := simulator.Run(t.Context(), x, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// 50m of n1's 1,000m are taken: q fits there best (50m would be left), p has room on n2 only.
	got := Compare(trace(), unknown, &report.Run{Result: result})
	if got.Pods != 2 || got.Same[0] != 1 {
		t.Errorf("want one of two pods where it was, found %d of %d", got.Same[0], got.Pods)
	}
	if diff := cmp.Diff([]Row{{Pod: "a/q", Recorded: "n2", Replayed: []string{"n1"}}}, got.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	var out bytes.Buffer
	if err := got.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	const text = "POD   RECORDED   BestFitScore\na/q   n2         n1\nBestFitScore: 1 of 2 pods went where they were recorded\n"
	if diff := cmp.Diff(text, out.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// At ten times the speed, ten seconds of the records take one; and nobody waits once it is over.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, done := time.Now(), make(chan struct{})
		pace := NewPace(10, time.Now, done)
		for _, at := range []time.Duration{0, 10 * time.Second, 10 * time.Second, 25 * time.Second} {
			pace.Observe(&model.Event{Time: at})
			if passed := time.Since(start); passed != at/10 {
				t.Errorf("event at %v: want it after %v, found %v", at, at/10, passed)
			}
		}
		close(done)
		pace.Observe(&model.Event{Time: time.Hour})
		if passed := time.Since(start); passed != 2500*time.Millisecond {
			t.Errorf("want no wait at the end, found %v", passed)
		}
	})
}
