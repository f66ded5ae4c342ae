package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func attempt(pod, node string, number int, pending time.Duration) *trace.Record {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &trace.Record{
		Kind: trace.KindAttempt, Pod: trace.Pod{Namespace: "team", Name: pod}, Attempt: number, FirstAttempt: start, Start: start,
		End: start.Add(pending), Outcome: trace.OutcomeUnschedulable, Message: "no room",
	}
	if node != "" {
		r.Outcome, r.Node = trace.OutcomeBound, node
	}
	return r
}

// TestCompare: of the first run a and b are bound after 1 s and 3 s, on one node; c waits. In the second b is elsewhere and
// c is bound.
func TestCompare(t *testing.T) {
	from, to := trace.NewRun(), trace.NewRun()
	for _, r := range []*trace.Record{
		attempt("a", "n1", 1, time.Second), attempt("b", "", 1, 0), attempt("b", "n1", 2, 3*time.Second), attempt("c", "", 4, 0),
		attempt("c", "", 2, 0), // came late
	} {
		from.Add(r)
	}
	trial := attempt("a", "n9", 7, 0)
	trial.Tentative = true
	victims := &trace.Record{Kind: trace.KindVictims, Pod: trace.Pod{Namespace: "team", Name: "b"}, Attempt: 9,
		Preemption: &trace.Preemption{Victims: []trace.Victim{{UID: "v1"}, {UID: "v2"}, {UID: "v1"}}}}
	for _, r := range []*trace.Record{
		attempt("a", "n1", 1, 2*time.Second), trial, attempt("b", "n2", 1, time.Second), victims, attempt("c", "n2", 1, 4*time.Second),
	} {
		to.Add(r)
	}
	want := trace.Difference{
		From: trace.Summary{Pods: 3, Bound: 2, P50: time.Second, P99: 3 * time.Second, Nodes: 1, MostPods: 2},
		To:   trace.Summary{Pods: 3, Bound: 3, Victims: 2, P50: 2 * time.Second, P99: 4 * time.Second, Nodes: 2, MostPods: 2},
		Same: 1,
		Changes: []trace.Change{
			{
				Pod: "team/b", From: &trace.Placement{Node: "n1", Attempts: 2, Pending: 3 * time.Second},
				To: &trace.Placement{Node: "n2", Attempts: 1, Pending: time.Second},
			},
			{
				Pod: "team/c", From: &trace.Placement{Attempts: 4, Message: "no room"},
				To: &trace.Placement{Node: "n2", Attempts: 1, Pending: 4 * time.Second},
			},
		},
	}
	if diff := cmp.Diff(want, trace.Compare(from, to)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPercentilesOfAHundredPods(t *testing.T) {
	run := trace.NewRun()
	for i := range 100 { // 1 s to 100 s: half are not above 50 s, 99 of them not above 99 s
		run.Add(attempt(fmt.Sprint("p", i), "n", 1, time.Duration(i+1)*time.Second))
	}
	if s := run.Summary(); s.P50 != 50*time.Second || s.P99 != 99*time.Second {
		t.Errorf("p50 %s, p99 %s; want 50s and 99s", s.P50, s.P99)
	}
}
