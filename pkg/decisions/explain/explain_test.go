package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/explain"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// TestAPodThatWasPlaced: 60 of 100 nodes passed. The winner has 1000 + 500 + 80 = 1580, the runner-up 800 + 500 + 81 = 1381,
// so locality speaks for the winner by 200 and the fit against it by 1.
func TestAPodThatWasPlaced(t *testing.T) {
	r := storetest.Bound("s", 1)
	r.Scores.Margin = 199
	want := explain.Explanation{
		Headline: "The pod is on node-1: the highest score of 60 nodes that passed every filter, 199 ahead of runner-up-1.",
		Details: []string{
			"node-1 scored 1580: CacheAware 1000, DiskIO 500, NodeResourcesFit 80.",
			"CacheAware: images 100 % of 40Gi are on this node.",
			"Ahead of runner-up-1 through CacheAware (+200), although NodeResourcesFit (-1) spoke against it.",
			"40 nodes were rejected: NodeResourcesFit, Insufficient cpu (node-41, node-42, ...).",
		},
	}
	if diff := cmp.Diff(want, explain.Attempt(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAPodThatHasNoNode(t *testing.T) {
	r := storetest.Unschedulable("s", 1, "NodeResourcesFit", "Insufficient memory")
	r.Preemption = &trace.Preemption{NominatedNode: "node-3", Victims: []trace.Victim{{Namespace: "a", Name: "b"}}}
	want := explain.Explanation{
		Headline: "The pod has no node: none of 100 nodes took it.",
		Details: []string{
			"90 nodes were rejected: NodeResourcesFit, Insufficient memory (node-1, node-2, node-3, ...).",
			"10 nodes were rejected: TaintToleration, node(s) had untolerated taint(s) (node-99, ...).",
			"Room is being made on node-3 by removing a/b.",
		},
		Advice: []string{
			"Ask for less memory, free some on a node, or add a node that has more.",
			"Add a toleration for the taint to the pod, or take the taint from a node.",
		},
	}
	if diff := cmp.Diff(want, explain.Attempt(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestHeadlines(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*trace.Record)
		want   string
	}{
		"a tie":          {func(r *trace.Record) { r.Scores.Margin = 0 }, "level with runner-up-1: the choice between them was random"},
		"no alternative": {func(r *trace.Record) { r.Found, r.Scores = trace.FoundOnlyFeasible, nil }, "the only node that passed every filter"},
		"nominated":      {func(r *trace.Record) { r.Found = trace.FoundNominated }, "nominated for that node before"},
		"a batch":        {func(r *trace.Record) { r.Found = trace.FoundHint }, "an equal pod's attempt"},
		"a trial":        {func(r *trace.Record) { r.Outcome = trace.OutcomeFits }, "nothing was bound"},
		"an error":       {func(r *trace.Record) { r.Outcome, r.Message = trace.OutcomeError, "etcd is away" }, "says nothing about whether the pod fits: etcd is away"},
		"an undone bind": {func(r *trace.Record) {
			r.Outcome, r.Undo = trace.OutcomeUnschedulable, &trace.Undo{Stage: "Bind", Plugin: "DefaultBinder", Reason: "conflict"}
		}, "DefaultBinder failed in Bind: conflict"},
		"nothing at all":  {func(r *trace.Record) { *r = trace.Record{} }, "none of 0 nodes"},
		"unknown outcome": {func(r *trace.Record) { r.Outcome = "Maybe" }, "The pod has no node"},
	} {
		r := storetest.Bound("s", 1)
		c.change(r)
		if got := explain.Attempt(r).Headline; !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q in it", name, got, c.want)
		}
	}
}

func TestWhyNot(t *testing.T) {
	bound, pending := storetest.Bound("s", 1), storetest.Unschedulable("s", 2, "DiskIO", "too slow")
	full := storetest.Bound("s", 3)
	full.Matrix = []trace.NodeVerdict{
		{Node: "a", Verdict: trace.VerdictRejected, Plugin: "NodeAffinity", Reason: "no match"},
		{Node: "b", Verdict: trace.VerdictNotEvaluated},
		{Node: "c", Verdict: trace.VerdictFeasible, Total: 1580, Weighted: []int64{1000, 500, 80}},
		{Node: "d", Verdict: trace.VerdictExcluded, Plugin: "NodeName", Reason: "another name"},
	}
	for _, c := range []struct {
		name, node, want string
		record           *trace.Record
	}{
		{"it is there", "node-1", "The pod is on node-1.", bound},
		{"a sample of those rejected", "node-41", "node-41 was rejected: NodeResourcesFit, Insufficient cpu. Ask for less cpu", bound},
		{"one of the best", "runner-up-1", "runner-up-1 passed every filter and scored 1381, node-1 scored 1580. node-1 is ahead through CacheAware (+200)", bound},
		{"not named", "node-77", "The record does not name node-77. Of the nodes that it does not name, 38 were rejected for NodeResourcesFit, Insufficient cpu; " +
			"55 scored below the 5 best. Ask.", bound},
		{"pending", "node-3", "node-3 was rejected: DiskIO, too slow. Ask for less in annotation", pending},
		{"matrix: rejected", "a", "a was rejected: NodeAffinity, no match. Change", full},
		{"matrix: not looked at", "b", "b was not looked at", full},
		{"matrix: as good", "c", "is ahead by nothing: both scored the same", full},
		{"matrix: ruled out", "d", "d was ruled out before any node was looked at: NodeName, another name.", full},
		{"an empty record", "x", "Perhaps it was not there at that time. Ask.", &trace.Record{}},
	} {
		if got := explain.WhyNot(c.record, c.node, "Ask."); !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q in it", c.name, got, c.want)
		}
	}
}

// FuzzExplain: whatever a stranger's record holds, it is put into words.
func FuzzExplain(f *testing.F) {
	f.Add("Bound", "Scored", "n", 3, int64(5), uint8(2))
	f.Add("Unschedulable", "", "", 0, int64(-5), uint8(0))
	f.Fuzz(func(t *testing.T, outcome, found, node string, nodes int, points int64, columns uint8) {
		r := storetest.Bound("s", 1)
		r.Outcome, r.Found, r.Node = trace.Outcome(outcome), trace.Found(found), node
		r.Nodes.Total, r.Nodes.NotEvaluated = nodes, nodes
		r.Scores.Plugins = r.Scores.Plugins[:min(int(columns), 3)]
		r.Scores.Top[0].Weighted = []int64{points}
		r.Scores.Top[0].Terms[0].Terms[0].Value = float64(points)
		r.Permit = &trace.Permit{Waited: time.Duration(points)}
		if explain.Attempt(r).Headline == "" || explain.WhyNot(r, "runner-up-2", "") == "" {
			t.Error("nothing was said")
		}
	})
}
