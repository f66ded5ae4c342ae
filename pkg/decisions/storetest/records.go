package storetest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

// Epoch is when the first of Records is.
func Epoch() time.Time { return time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC) }

// Bound is a record of a pod that was placed at the first attempt: number n of a session, of 100 nodes and ten namespaces,
// 10 ms after number n-1.
func Bound(session string, n int) *trace.Record {
	start := Epoch().Add(time.Duration(n) * 10 * time.Millisecond)
	node := "node-" + strconv.Itoa(n%100)
	return &trace.Record{
		Version: trace.SchemaVersion, Session: session, Sequence: uint64(n), Kind: trace.KindAttempt,
		Scheduler: "scheduler-0", Profile: "vicinity-scheduler",
		Pod: trace.Pod{
			Namespace: "team-" + strconv.Itoa(n%10), Name: "pod-" + strconv.Itoa(n), UID: session + "-uid-" + strconv.Itoa(n),
			Owner: &trace.Owner{Kind: "Job", Name: "job-" + strconv.Itoa(n/4)},
		},
		Attempt: 1, Start: start, End: start.Add(4 * time.Millisecond), QueueWait: 2 * time.Millisecond,
		Phases: []trace.Phase{
			{Name: "PreFilter", Duration: 100 * time.Microsecond},
			{Name: "Filter", Offset: 100 * time.Microsecond, Duration: time.Millisecond},
			{Name: "Score", Offset: 1100 * time.Microsecond, Duration: time.Millisecond},
			{Name: "Reserve", Offset: 2200 * time.Microsecond, Duration: 10 * time.Microsecond},
			{Name: "Bind", Offset: 2300 * time.Microsecond, Duration: 1700 * time.Microsecond},
		},
		Outcome: trace.OutcomeBound, Node: node, Found: trace.FoundScored,
		Nodes: trace.NodeCounts{Total: 100, Rejected: 40, Feasible: 60},
		Rejections: []trace.Rejection{{
			Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Stage: "Filter", Resolvable: true, Nodes: 40,
			Sample: []string{"node-41", "node-42"},
		}},
		Scores: scores(node),
	}
}

func scores(winner string) *trace.Scores {
	s := &trace.Scores{
		Plugins: []trace.ScorePlugin{{Name: "CacheAware", Weight: 10}, {Name: "DiskIO", Weight: 10}, {Name: "NodeResourcesFit", Weight: 1}},
		Margin:  120,
	}
	for i := range 5 {
		node := winner
		if i > 0 {
			node = fmt.Sprintf("runner-up-%d", i)
		}
		fit := int64(80 + i)
		locality := int64(100 - 20*i)
		s.Top = append(s.Top, trace.NodeScore{
			Node: node, Total: 10*locality + 500 + fit, Raw: []int64{locality, 50, fit}, Normalised: []int64{locality, 50, fit},
			Weighted: []int64{10 * locality, 500, fit},
			Terms: []trace.PluginTerms{{Plugin: "CacheAware", Terms: []trace.Term{
				{Name: "images", Value: float64(locality) / 100, Unit: "share", Text: "of 40Gi are on this node"},
			}}},
		})
	}
	s.RunnerUp = s.Top[1].Node
	return s
}

// Unschedulable is a record like Bound of a pod that no node took.
func Unschedulable(session string, n int, plugin, reason string) *trace.Record {
	r := Bound(session, n)
	r.Outcome, r.Node, r.Found, r.Scores = trace.OutcomeUnschedulable, "", trace.FoundNone, nil
	r.Nodes = trace.NodeCounts{Total: 100, Rejected: 100}
	r.Rejections = []trace.Rejection{
		{Plugin: plugin, Reason: reason, Stage: "Filter", Nodes: 90, Sample: []string{"node-1", "node-2", "node-3"}},
		{Plugin: "TaintToleration", Reason: "node(s) had untolerated taint(s)", Stage: "Filter", Nodes: 10, Sample: []string{"node-99"}},
	}
	r.Message = "0/100 nodes are available: 90 " + reason
	r.Phases = r.Phases[:2]
	return r
}

// Decision is a record with its bytes.
func Decision(tb testing.TB, r *trace.Record) store.Decision {
	tb.Helper()
	payload, err := proto.Marshal(tracewire.FromRecord(r))
	if err != nil {
		tb.Fatal(err)
	}
	return store.Decision{Record: r, Payload: payload}
}
