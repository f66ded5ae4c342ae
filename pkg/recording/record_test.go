package recording_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// nobody registers nothing.
type nobody struct{}

func (nobody) Register(prometheus.Collector) error { return nil }

// TestARecordOfAPlacedPod: node nn has 2 x 10 x weight 2 = 40 points of plugin Counting, n has 20; nnn is refused.
func TestARecordOfAPlacedPod(t *testing.T) {
	labelled := pod("p")
	labelled.Labels = map[string]string{"app": "web", "secret": "s3cr3t", "other": "x", configv1.DefaultMatrixLabel: "full"}
	r := newRig(t, settings{objects: append(someNodes(), labelled), more: &counting{}, args: configv1.SnifferArgs{
		Labels: configv1.SnifferLabels{Keep: []string{"app"}, Redact: []string{"secret"}},
	}})
	got := r.record(t, "p", 1)
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	want := &trace.Record{
		Version: 1, Session: "s1", Sequence: 1, Kind: trace.KindAttempt, Scheduler: "test", Profile: corev1.DefaultSchedulerName,
		Pod:     trace.Pod{Namespace: "team", Name: "p", UID: "p", Labels: map[string]string{"app": "web", "secret": "REDACTED"}},
		Attempt: 1, Outcome: trace.OutcomeBound, Node: "nn", Found: trace.FoundScored,
		Nodes:      trace.NodeCounts{Total: 3, Rejected: 1, Feasible: 2},
		Rejections: []trace.Rejection{{Plugin: "Counting", Reason: "not today", Stage: "Filter", Resolvable: true, Nodes: 1, Sample: []string{"nnn"}}},
	}
	ignored := cmpopts.IgnoreFields(trace.Record{}, "Start", "End", "Queued", "FirstAttempt", "QueueWait", "Phases", "Cycle", "Scores", "Matrix")
	if diff := cmp.Diff(want, got, ignored); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if got.Start.IsZero() || got.End.Before(got.Start) || got.Queued.After(got.Start) || got.QueueWait <= 0 {
		t.Errorf("times: queued %s, start %s, end %s, wait %s", got.Queued, got.Start, got.End, got.QueueWait)
	}
	judgeScores(t, got)
	judgePhases(t, got)
	verdicts := map[string]trace.Verdict{}
	for _, v := range got.Matrix {
		verdicts[v.Node] = v.Verdict
	}
	wantVerdicts := map[string]trace.Verdict{"n": trace.VerdictFeasible, "nn": trace.VerdictFeasible, "nnn": trace.VerdictRejected}
	if diff := cmp.Diff(wantVerdicts, verdicts); diff != "" {
		t.Errorf("matrix (-want +got):\n%s", diff)
	}
}

func judgeScores(t *testing.T, r *trace.Record) {
	t.Helper()
	if r.Scores == nil || len(r.Scores.Top) != 2 || r.Scores.RunnerUp != "n" || r.Scores.Margin != 20 {
		t.Fatalf("scores: %+v", r.Scores)
	}
	for i, plugin := range r.Scores.Plugins {
		if plugin.Name != "Counting" {
			continue
		}
		best, next := r.Scores.Top[0], r.Scores.Top[1]
		if plugin.Weight != 2 || best.Raw[i] != 2 || best.Normalised[i] != 20 || best.Weighted[i] != 40 || next.Weighted[i] != 20 {
			t.Errorf("column of Counting: %+v, %+v, %+v", plugin, best, next)
		}
		sum := int64(0)
		for _, weighted := range best.Weighted {
			sum += weighted
		}
		if sum != best.Total {
			t.Errorf("weighted scores add up to %d, total is %d", sum, best.Total)
		}
		return
	}
	t.Errorf("no scores of Counting in %+v", r.Scores.Plugins)
}

func judgePhases(t *testing.T, r *trace.Record) {
	t.Helper()
	var names []string
	last := time.Duration(-1)
	for _, phase := range r.Phases {
		names = append(names, phase.Name)
		if phase.Offset < last || phase.Duration < 0 {
			t.Errorf("phase %+v begins before the one before it", phase)
		}
		last = phase.Offset
	}
	if diff := cmp.Diff([]string{"PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind"}, names); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
}

// TestARecordOfAPodThatFitsNowhere, and of the same pod once it does.
func TestARecordOfAPodThatFitsNowhere(t *testing.T) {
	large := pod("large")
	large.Spec.NodeSelector = map[string]string{"disk": "fast"}
	r := newRig(t, settings{objects: append(someNodes(), large), more: &counting{}})
	first := r.record(t, "large", 1)
	if first.Outcome != trace.OutcomeUnschedulable || first.Attempt != 1 || first.Found != trace.FoundNone || first.Node != "" {
		t.Errorf("first attempt: %+v", first)
	}
	want := []trace.Rejection{{
		Plugin: "NodeAffinity", Reason: "node(s) didn't match Pod's node affinity/selector", Stage: "Filter", Nodes: 3,
	}}
	if diff := cmp.Diff(want, first.Rejections, cmpopts.IgnoreFields(trace.Rejection{}, "Sample")); diff != "" {
		t.Errorf("rejections (-want +got):\n%s", diff)
	}
	if first.Preemption == nil || first.Preemption.Message == "" {
		t.Error("preemption was tried, but the record does not say what came of it")
	}
	fast := st.MakeNode().Name("fast").Label("disk", "fast").Capacity(map[corev1.ResourceName]string{"cpu": "32", "memory": "64Gi", "pods": "110"}).Obj()
	_, err := r.client.CoreV1().Nodes().Create(t.Context(), fast, metav1.CreateOptions{})
	must(t, err)
	second := r.record(t, "large", 2)
	if second.Outcome != trace.OutcomeBound || second.Attempt != 2 || second.Node != "fast" || second.Found != trace.FoundOnlyFeasible ||
		second.Nodes != (trace.NodeCounts{Total: 4, Rejected: 3, Feasible: 1}) || !second.FirstAttempt.Equal(first.FirstAttempt) {
		t.Errorf("second attempt: %+v", second)
	}
}

// TestANodeThatWasNotLookedAtIsNeitherFeasibleNorRejected: the pod asks for a node by name, so the others are excluded.
func TestExcludedNodes(t *testing.T) {
	chosen := pod("chosen")
	chosen.Spec.Affinity = st.MakePod().NodeAffinityIn("metadata.name", []string{"n"}, st.NodeSelectorTypeMatchFields).Obj().Spec.Affinity
	chosen.Labels = map[string]string{configv1.DefaultMatrixLabel: "full"}
	r := newRig(t, settings{objects: append(someNodes(), chosen)})
	got := r.record(t, "chosen", 1)
	if got.Nodes != (trace.NodeCounts{Total: 3, Excluded: 2, Feasible: 1}) || got.Found != trace.FoundOnlyFeasible {
		t.Errorf("found %+v", got)
	}
	for _, v := range got.Matrix {
		if want := map[string]trace.Verdict{"n": trace.VerdictFeasible}[v.Node]; v.Verdict != want && v.Verdict != trace.VerdictExcluded {
			t.Errorf("node %s: %s", v.Node, v.Verdict)
		}
	}
	if len(got.Rejections) != 1 || got.Rejections[0].Stage != "PreFilter" || got.Rejections[0].Nodes != 2 || got.Rejections[0].Plugin != "NodeAffinity" {
		t.Errorf("rejections: %+v", got.Rejections)
	}
}

// TestPodsOutsideOfTheSelectedNamespacesAreNotRecorded.
func TestPodsOutsideOfTheSelectedNamespacesAreNotRecorded(t *testing.T) {
	other := pod("other")
	other.Namespace = "kube-system"
	r := newRig(t, settings{objects: append(someNodes(), other, pod("ours")), args: configv1.SnifferArgs{
		Namespaces: configv1.SnifferNamespaces{Exclude: []string{"kube-system"}},
	}})
	r.await(t, 2)
	r.record(t, "ours", 1)
	if records := r.sink.of("other"); len(records) != 0 {
		t.Errorf("found %d records of a pod in an excluded namespace", len(records))
	}
}
