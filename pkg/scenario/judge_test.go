package scenario

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// pod is on node, or nowhere yet when node is empty.
func pod(name, node string, change ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "reader"}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
	for _, f := range change {
		f(&p)
	}
	return p
}

// notScheduled gives the pod the condition that a scheduler leaves.
func notScheduled(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message},
		}
	}
}

func ownedByController(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "s", Controller: new(true)}}
}

func deleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func TestJudge(t *testing.T) {
	unschedulable := notScheduled(corev1.PodReasonUnschedulable, `0/2 nodes are available: label "dataset.x.id": bad`)
	tests := map[string]struct {
		expect format.Expect
		pods   []corev1.Pod
		met    bool
		final  bool
		found  string // a part of what is found when the expectation is not met
		seen   observation
	}{
		"pod is on its node": {
			expect: format.Expect{Pod: "a", Node: "n1", Because: "of the gateway"},
			pods:   []corev1.Pod{pod("a", "n1"), pod("b", "n2")},
			met:    true,
			seen:   observation{pod: "a", node: "n1", reason: "of the gateway"},
		},
		"pod is on another node and stays there": {
			expect: format.Expect{Pod: "a", Node: "n1"},
			pods:   []corev1.Pod{pod("a", "n2")},
			final:  true,
			found:  "pod a on node n2",
			seen:   observation{pod: "a", node: "n2"},
		},
		"pod on another node may be replaced by its controller": {
			expect: format.Expect{Pod: "a", Node: "n1"},
			pods:   []corev1.Pod{pod("a", "n2", ownedByController)},
			found:  "pod a on node n2",
			seen:   observation{pod: "a", node: "n2"},
		},
		"pod on another node is being deleted": {
			expect: format.Expect{Pod: "a", Node: "n1"},
			pods:   []corev1.Pod{pod("a", "n2", deleted)},
			found:  "pod a on node n2",
			seen:   observation{pod: "a", node: "n2"},
		},
		"pod is on no node yet": {
			expect: format.Expect{Pod: "a", Node: "n1"},
			pods:   []corev1.Pod{pod("a", "")},
			found:  "no scheduler has said why",
			seen:   observation{pod: "a"},
		},
		"pod has no node because none fits": {
			expect: format.Expect{Pod: "a", Node: "n1"},
			pods:   []corev1.Pod{pod("a", "", unschedulable)},
			found:  "Pending: 0/2 nodes",
			seen:   observation{pod: "a"},
		},
		"there is no such pod": {
			expect: format.Expect{Pod: "a", Node: "n1"},
			pods:   []corev1.Pod{pod("b", "n1")},
			found:  "no pod a",
			seen:   observation{pod: "a"},
		},
		"each pod is on one of the nodes": {
			expect: format.Expect{Pods: []string{"a", "b"}, Nodes: []string{"n1", "n2", "n3"}},
			pods:   []corev1.Pod{pod("a", "n2"), pod("b", "n1"), pod("c", "n9")},
			met:    true,
			seen:   observation{pod: "a,b", node: "n1,n2"},
		},
		"one of the pods is on none of the nodes": {
			expect: format.Expect{Pods: []string{"a", "b"}, Nodes: []string{"n1", "n2"}},
			pods:   []corev1.Pod{pod("a", "n2"), pod("b", "n9")},
			final:  true,
			found:  "pod b on node n9",
			seen:   observation{pod: "b", node: "n9"},
		},
		"pods use few enough nodes": {
			expect: format.Expect{Selector: map[string]string{"app": "reader"}, Count: 3, MaxNodes: 2},
			pods:   []corev1.Pod{pod("c", "n1"), pod("a", "n2"), pod("b", "n1")},
			met:    true,
			seen:   observation{pod: "a,b,c", node: "n1,n2"},
		},
		"pods use too many nodes": {
			expect: format.Expect{Selector: map[string]string{"app": "reader"}, MaxNodes: 1},
			pods:   []corev1.Pod{pod("a", "n1"), pod("b", "n2")},
			found:  "2 nodes in use: n1, n2",
			seen:   observation{pod: "a,b", node: "n1,n2"},
		},
		"selector finds too few pods": {
			expect: format.Expect{Selector: map[string]string{"app": "reader"}, Count: 3, Node: "n1"},
			pods:   []corev1.Pod{pod("a", "n1"), pod("b", "n1"), pod("c", "n1", deleted)},
			found:  "2 pods with labels app=reader",
			seen:   observation{pod: "a,b"},
		},
		"selector finds no pod": {
			expect: format.Expect{Selector: map[string]string{"app": "writer"}, Node: "n1"},
			pods:   []corev1.Pod{pod("a", "n1")},
			found:  "0 pods",
		},
		"pod is pending for the reason": {
			expect: format.Expect{Pod: "a", Pending: "dataset.x.id", Because: "at fault"},
			pods:   []corev1.Pod{pod("a", "", unschedulable)},
			met:    true,
			seen:   observation{pod: "a", reason: `at fault; Pending: 0/2 nodes are available: label "dataset.x.id": bad`},
		},
		"pod is pending for another reason": {
			expect: format.Expect{Pod: "a", Pending: "dataset.0.id"},
			pods:   []corev1.Pod{pod("a", "", unschedulable)},
			found:  `label "dataset.x.id"`,
			seen:   observation{pod: "a"},
		},
		"pod is gated and not unschedulable": {
			expect: format.Expect{Pod: "a", Pending: "gate"},
			pods:   []corev1.Pod{pod("a", "", notScheduled(corev1.PodReasonSchedulingGated, "waiting for a gate"))},
			found:  "not scheduled: waiting for a gate",
			seen:   observation{pod: "a"},
		},
		"pod is placed instead of pending": {
			expect: format.Expect{Pod: "a", Pending: "dataset.x.id"},
			pods:   []corev1.Pod{pod("a", "n1", unschedulable)},
			final:  true,
			found:  "pod a on node n1",
			seen:   observation{pod: "a", node: "n1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := (expectation{&tc.expect}).judge(tc.pods)
			if got.met != tc.met || got.final != tc.final || got.seen != tc.seen {
				t.Errorf("want met=%t final=%t seen=%+v, found %+v", tc.met, tc.final, tc.seen, got)
			}
			if !strings.Contains(got.found, tc.found) || got.found == "" {
				t.Errorf("want found to say %q, found %q", tc.found, got.found)
			}
		})
	}
}

func TestExpectWant(t *testing.T) {
	tests := map[string]struct {
		expect format.Expect
		want   string
	}{
		"one node":       {format.Expect{Pod: "a", Node: "n"}, "pod a on node n"},
		"nodes":          {format.Expect{Pods: []string{"a", "b"}, Nodes: []string{"m", "n"}}, "pod a,b on one of nodes m, n"},
		"many pods":      {format.Expect{Pods: []string{"a", "b", "c", "d"}, Node: "n"}, "pod a..d on node n"},
		"selector":       {format.Expect{Selector: map[string]string{"x": "y"}, Count: 20, MaxNodes: 3}, "20 pods with labels x=y on at most 3 nodes"},
		"pending":        {format.Expect{Pod: "a", Pending: "no room"}, `pod a Pending because of "no room"`},
		"nodes and most": {format.Expect{Pod: "a", Nodes: []string{"m"}, MaxNodes: 1}, "pod a on node m on at most 1 nodes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (expectation{&tc.expect}).want(); got != tc.want {
				t.Errorf("want %q, found %q", tc.want, got)
			}
		})
	}
}
