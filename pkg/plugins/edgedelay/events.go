package edgedelay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// EventsToRegister names the core events that can help a pod this plugin rejected. Changes of round-trip times are not
// among them: radiusWatch handles those.
func (pl *EdgeDelay) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// An annotation edit is an Update of no finer kind.
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.Update}, QueueingHintFn: pl.afterPodUpdate},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Add | fwk.UpdatePodLabel | fwk.Delete},
			QueueingHintFn: pl.afterOtherPod,
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
			QueueingHintFn: pl.afterNodeChange,
		},
	}, nil
}

// afterPodUpdate: the pod helps itself only by what this plugin reads of it.
func (pl *EdgeDelay) afterPodUpdate(_ klog.Logger, _ *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, ok := oldObj.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("pod event: want *v1.Pod, found %T", oldObj)
	}
	after, ok := newObj.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("pod event: want *v1.Pod, found %T", newObj)
	}
	valueBefore, hadBefore := before.Annotations[vicinityv1alpha1.DelayAnnotation]
	valueAfter, hasAfter := after.Annotations[vicinityv1alpha1.DelayAnnotation]
	if valueBefore != valueAfter || hadBefore != hasAfter || !maps.Equal(delayLabels(before), delayLabels(after)) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

func delayLabels(pod *corev1.Pod) map[string]string {
	labels := maps.Clone(pod.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return !strings.HasPrefix(key, vicinityv1alpha1.DelayLabelPrefix) })
	return labels
}

// afterOtherPod: a pod that was placed, or has gone, helps those whose bounds mean it.
func (pl *EdgeDelay) afterOtherPod(_ klog.Logger, pod *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	obj := newObj
	if obj == nil {
		obj = oldObj
	}
	other, ok := obj.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("pod event: want *v1.Pod, found %T", obj)
	}
	return pl.hint(pod, func(to vicinityv1alpha1.DelayTarget) bool { return means(to, pod.Namespace, other) })
}

// afterNodeChange: a node helps if a bound refers to it by its name or its zone, or if it is in the cloud and the pod
// must be there. Whether it is within a bound shows when round-trip times to it are known.
func (pl *EdgeDelay) afterNodeChange(_ klog.Logger, pod *corev1.Pod, _, newObj any) (fwk.QueueingHint, error) {
	node, ok := newObj.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("node event: want *v1.Node, found %T", newObj)
	}
	bounds, err := vicinityv1alpha1.DelayBoundsOf(pod.Labels, pod.Annotations)
	if err == nil && len(bounds) == 0 && pl.cloud.has(node) {
		return fwk.Queue, nil
	}
	return pl.hint(pod, func(to vicinityv1alpha1.DelayTarget) bool {
		switch to.Kind {
		case vicinityv1alpha1.DelayToReference, vicinityv1alpha1.DelayToNode:
			return to.Name == node.Name
		case vicinityv1alpha1.DelayToZone:
			return to.Name == node.Labels[corev1.LabelTopologyZone]
		default:
			return false
		}
	})
}

// hint queues the pod if one of its bounds is to something that helps. No event mends bounds that cannot be read.
func (pl *EdgeDelay) hint(pod *corev1.Pod, helps func(vicinityv1alpha1.DelayTarget) bool) (fwk.QueueingHint, error) {
	bounds, err := vicinityv1alpha1.DelayBoundsOf(pod.Labels, pod.Annotations)
	if err != nil {
		return fwk.QueueSkip, nil //nolint:nilerr // only an update of the pod helps
	}
	if slices.ContainsFunc(bounds, func(b vicinityv1alpha1.DelayBound) bool { return helps(b.To) }) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}
