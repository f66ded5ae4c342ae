package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// observation is what a result shows of the cluster.
type observation struct {
	pod, node, reason string
}

// verdict is what one look at the scenario's pods says about an expectation.
type verdict struct {
	met bool
	// final means that waiting longer cannot change an unmet expectation.
	final bool
	// found is what there is instead of what is wanted.
	found string
	seen  observation
}

// judge compares the scenario's pods with the expectation.
func (e expectation) judge(all []corev1.Pod) verdict {
	pods, missing := e.pick(all)
	if missing != "" {
		return verdict{found: missing, seen: observation{pod: e.subject(pods)}}
	}
	for i := range pods {
		if v := e.judgePod(&pods[i]); !v.met {
			return v
		}
	}
	nodes := nodesOf(pods)
	seen := observation{pod: e.subject(pods), node: subject(nodes), reason: e.Because}
	if e.MaxNodes > 0 && len(nodes) > e.MaxNodes {
		return verdict{found: fmt.Sprintf("%d nodes in use: %s", len(nodes), strings.Join(nodes, ", ")), seen: seen}
	}
	if e.Pending != "" {
		seen.reason = strings.TrimPrefix(e.Because+"; "+describePod(&pods[0]), "; ")
	}
	return verdict{met: true, found: "it", seen: seen}
}

// pick returns the pods that the expectation is about, sorted by name, or says what is missing.
func (e expectation) pick(all []corev1.Pod) (pods []corev1.Pod, missing string) {
	if len(e.Selector) > 0 {
		selector := labels.SelectorFromSet(e.Selector)
		for i := range all {
			if all[i].DeletionTimestamp == nil && selector.Matches(labels.Set(all[i].Labels)) {
				pods = append(pods, all[i])
			}
		}
		slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		if len(pods) == 0 || e.Count > 0 && len(pods) != e.Count {
			return pods, fmt.Sprintf("%d pods with labels %s", len(pods), selector)
		}
		return pods, ""
	}
	for _, name := range e.names() {
		i := slices.IndexFunc(all, func(p corev1.Pod) bool { return p.Name == name })
		if i < 0 {
			return pods, "no pod " + name
		}
		pods = append(pods, all[i])
	}
	return pods, ""
}

func (e expectation) names() []string {
	if e.Pod != "" {
		return []string{e.Pod}
	}
	return e.Pods
}

func (e expectation) judgePod(pod *corev1.Pod) verdict {
	v := verdict{seen: observation{pod: pod.Name, node: pod.Spec.NodeName}}
	switch {
	case e.Pending != "":
		message, unschedulable := unschedulable(pod)
		v.met = pod.Spec.NodeName == "" && unschedulable && strings.Contains(message, e.Pending)
		v.final = pod.Spec.NodeName != "" && !replaceable(pod)
	case pod.Spec.NodeName == "":
	default:
		wanted := e.wantedNodes()
		v.met = len(wanted) == 0 || slices.Contains(wanted, pod.Spec.NodeName)
		v.final = !v.met && !replaceable(pod)
	}
	if !v.met {
		v.found = fmt.Sprintf("pod %s %s", pod.Name, describePod(pod))
	}
	return v
}

// replaceable says whether another pod may take this one's name and place.
func replaceable(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || metav1.GetControllerOf(pod) != nil
}

func (e expectation) wantedNodes() []string {
	if e.Node != "" {
		return []string{e.Node}
	}
	return e.Nodes
}

// want says what is expected, for a message.
func (e expectation) want() string {
	who := "pod " + subject(e.names())
	if len(e.Selector) > 0 {
		who = "pods with labels " + labels.FormatLabels(e.Selector)
		if e.Count > 0 {
			who = fmt.Sprintf("%d %s", e.Count, who)
		}
	}
	switch wanted := e.wantedNodes(); {
	case e.Record != nil && e.Record.Times > 0:
		return fmt.Sprintf("%d records with %v of each %s", e.Record.Times, e.Record.Contains, who)
	case e.Record != nil:
		return fmt.Sprintf("a record with %v of each %s", e.Record.Contains, who)
	case e.Pending != "":
		return fmt.Sprintf("%s Pending because of %q", who, e.Pending)
	case len(wanted) == 1:
		who += " on node " + wanted[0]
	case len(wanted) > 1:
		who += " on one of nodes " + strings.Join(wanted, ", ")
	}
	if e.MaxNodes > 0 {
		who += fmt.Sprintf(" on at most %d nodes", e.MaxNodes)
	}
	return who
}

// subject names the expectation's pods for a result.
func (e expectation) subject(pods []corev1.Pod) string {
	if len(e.Selector) == 0 {
		return subject(e.names())
	}
	names := make([]string, 0, len(pods))
	for i := range pods {
		names = append(names, pods[i].Name)
	}
	return subject(names)
}

// Columns are the texts that a scenario's result will show as pod and node, as far as they are known beforehand. A
// pending pod has no node.
func Columns(s *format.Scenario) (pod, node string) {
	e := expectation{s.Decisive()}
	return subject(e.names()), subject(e.wantedNodes())
}

// subject names the pods or nodes of a list in a few words, for output.
func subject(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ",")
	}
	return names[0] + ".." + names[len(names)-1]
}

// describePod says where a pod is, or why it is nowhere.
func describePod(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return "on node " + pod.Spec.NodeName
	}
	message, unschedulable := unschedulable(pod)
	switch {
	case unschedulable:
		return "Pending: " + message
	case message != "":
		return "not scheduled: " + message
	}
	return "not scheduled, and no scheduler has said why"
}

// unschedulable returns the message of the condition that a scheduler leaves on a pod for which it found no node.
func unschedulable(pod *corev1.Pod) (message string, ok bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled {
			ok = condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable
			return condition.Message, ok
		}
	}
	return "", false
}

// nodesOf returns the nodes in use, sorted.
func nodesOf(pods []corev1.Pod) []string {
	nodes := map[string]bool{}
	for i := range pods {
		if pods[i].Spec.NodeName != "" {
			nodes[pods[i].Spec.NodeName] = true
		}
	}
	return slices.Sorted(maps.Keys(nodes))
}
