package watch

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// What an event is about, and who saw it, in the predecessor's words.
const (
	objectPod  = "Pod"
	objectNode = "Node"

	podAdd      = "podAdd"
	podUpdate   = "podUpdate"
	podDelete   = "podDelete"
	nodeAdd     = "nodeAdd"
	nodeUpdate  = "nodeUpdate"
	nodeDeleted = "nodeDeleted"
)

// describePod is what a pod object says.
func describePod(pod *corev1.Pod) store.Pod {
	out := store.Pod{
		UID: string(pod.UID), Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName, Phase: string(pod.Status.Phase),
		Created: pod.CreationTimestamp.UTC(),
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		out.Owner = owner.Kind + "/" + owner.Name
	}
	if pod.Spec.NodeName != "" {
		out.Bound = conditionTime(pod, corev1.PodScheduled)
	}
	out.Started, out.Ended = ran(pod)
	return out
}

// ran tells when the first container of a pod began to run, and when its last one stopped if the pod is over. Where a
// kubelet does not tell, conditions do, to the second.
func ran(pod *corev1.Pod) (started, ended time.Time) {
	for i := range pod.Status.ContainerStatuses {
		from, to := ranContainer(&pod.Status.ContainerStatuses[i].State)
		if started.IsZero() || (!from.IsZero() && from.Before(started)) {
			started = from
		}
		if to.After(ended) {
			ended = to
		}
	}
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		return started, time.Time{}
	}
	if ended.IsZero() {
		ended = conditionTime(pod, corev1.PodReady)
	}
	return started, ended
}

func ranContainer(state *corev1.ContainerState) (from, to time.Time) {
	switch {
	case state.Running != nil:
		return utc(state.Running.StartedAt), time.Time{}
	case state.Terminated != nil:
		return utc(state.Terminated.StartedAt), utc(state.Terminated.FinishedAt)
	}
	return time.Time{}, time.Time{}
}

// utc is a time as the store gives it back; zero stays zero.
func utc(t metav1.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

func conditionTime(pod *corev1.Pod, kind corev1.PodConditionType) time.Time {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return utc(pod.Status.Conditions[i].LastTransitionTime)
		}
	}
	return time.Time{}
}

// podEvents are the changes from one state of a pod to the next. old is nil for a pod that is seen for the first time.
func podEvents(old, pod *corev1.Pod, now time.Time) []store.Event {
	var events []store.Event
	base := trace.Event{
		Object: objectPod, Name: pod.Name, Namespace: pod.Namespace, UID: string(pod.UID), Node: pod.Spec.NodeName, Endpoint: podUpdate,
	}
	if old == nil {
		base.Endpoint = podAdd
	}
	if phase := pod.Status.Phase; phase != "" && (old == nil || old.Status.Phase != phase) {
		event := base
		event.Event, event.Reason, event.Message = string(phase), pod.Status.Reason, pod.Status.Message
		event.Time = phaseTime(pod, now)
		events = append(events, store.Event{Event: event, Identity: identity(pod.UID, "phase", string(phase))})
	}
	known := map[corev1.PodConditionType]corev1.PodCondition{}
	if old != nil {
		for _, condition := range old.Status.Conditions {
			known[condition.Type] = condition
		}
	}
	for _, condition := range pod.Status.Conditions {
		before := known[condition.Type]
		same := before.Status == condition.Status && before.LastTransitionTime.Equal(&condition.LastTransitionTime)
		if condition.Status != corev1.ConditionTrue || same {
			continue
		}
		event := base
		event.Event, event.Reason, event.Message = string(condition.Type), condition.Reason, condition.Message
		event.Time = cmp.Or(utc(condition.LastTransitionTime), now)
		events = append(events, store.Event{
			Event: event, Identity: identity(pod.UID, string(condition.Type), stamp(condition.LastTransitionTime)),
		})
	}
	return events
}

// phaseTime is when a pod came into its phase, as far as it says.
func phaseTime(pod *corev1.Pod, now time.Time) time.Time {
	started, ended := ran(pod)
	switch pod.Status.Phase {
	case corev1.PodPending:
		return cmp.Or(utc(pod.CreationTimestamp), now)
	case corev1.PodRunning:
		return cmp.Or(started, now)
	default:
		return cmp.Or(ended, now)
	}
}

func podDeleted(pod *corev1.Pod, now time.Time) store.Event {
	return store.Event{
		Identity: identity(pod.UID, "deleted", ""),
		Event: trace.Event{
			Object: objectPod, Name: pod.Name, Namespace: pod.Namespace, UID: string(pod.UID), Node: pod.Spec.NodeName,
			Endpoint: podDelete, Event: string(pod.Status.Phase), Time: now,
		},
	}
}

// identity names a change of an object such that it is the same for everybody who sees it.
func identity[UID ~string](uid UID, what, when string) string {
	return fmt.Sprintf("%s/%s/%s", uid, what, when)
}

func stamp(t metav1.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func describeNode(node *corev1.Node) store.Node {
	return store.Node{
		UID: string(node.UID), Name: node.Name, Zone: node.Labels[corev1.LabelTopologyZone], Ready: nodeReady(node),
		Added: utc(node.CreationTimestamp),
	}
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// nodeEvents are the changes from one state of a node to the next. Heartbeats, which only renew times, are none.
func nodeEvents(old, node *corev1.Node, now time.Time) []store.Event {
	var events []store.Event
	base := trace.Event{Object: objectNode, Name: node.Name, UID: string(node.UID), Endpoint: nodeUpdate}
	if old == nil {
		base.Endpoint = nodeAdd
	}
	if resources := nodeResources(node); old == nil || !maps.Equal(nodeResources(old), resources) {
		event := base
		event.Extra, event.Time = resources, now
		if old == nil {
			event.Time = cmp.Or(utc(node.CreationTimestamp), now)
		}
		// Of what a node has there may be any number of changes, so what it has is what tells them apart.
		events = append(events, store.Event{Event: event, Identity: identity(node.UID, "resources", fmt.Sprint(resources))})
	}
	known := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	if old != nil {
		for _, condition := range old.Status.Conditions {
			known[condition.Type] = condition.Status
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Status != corev1.ConditionTrue || known[condition.Type] == corev1.ConditionTrue {
			continue
		}
		event := base
		event.Event, event.Reason, event.Message = string(condition.Type), condition.Reason, condition.Message
		event.Time = cmp.Or(utc(condition.LastTransitionTime), now)
		events = append(events, store.Event{
			Event: event, Identity: identity(node.UID, string(condition.Type), stamp(condition.LastTransitionTime)),
		})
	}
	return events
}

func nodeRemoved(node *corev1.Node, now time.Time) store.Event {
	return store.Event{
		Identity: identity(node.UID, "deleted", ""),
		Event:    trace.Event{Object: objectNode, Name: node.Name, UID: string(node.UID), Endpoint: nodeDeleted, Time: now},
	}
}

// nodeResources are a node's resources in the predecessor's form.
func nodeResources(node *corev1.Node) map[string]string {
	out := make(map[string]string, len(node.Status.Capacity)+len(node.Status.Allocatable))
	for name, quantity := range node.Status.Capacity {
		out["capacity-"+string(name)] = quantity.String()
	}
	for name, quantity := range node.Status.Allocatable {
		out["allocatable-"+string(name)] = quantity.String()
	}
	return out
}
