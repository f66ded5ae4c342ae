package diskio

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// EventsToRegister names the core events that can help a pod this plugin rejected. Changes of disks and reports are not
// among them: package waiting handles those.
func (pl *DiskIO) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// An annotation edit is an Update of no finer kind.
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.Update}, QueueingHintFn: pl.afterPodUpdate},
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}, QueueingHintFn: pl.afterPodDelete},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, QueueingHintFn: pl.afterNodeAdd},
	}, nil
}

// afterPodUpdate: the pod helps itself only by what this plugin reads of it.
func (pl *DiskIO) afterPodUpdate(_ klog.Logger, _ *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, ok := oldObj.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("pod event: want *v1.Pod, found %T", oldObj)
	}
	after, ok := newObj.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("pod event: want *v1.Pod, found %T", newObj)
	}
	for _, key := range []string{vicinityv1alpha1.BlockIOAnnotation, vicinityv1alpha1.BlockIOThroughputAnnotation} {
		valueBefore, hadBefore := before.Annotations[key]
		valueAfter, hasAfter := after.Annotations[key]
		if valueBefore != valueAfter || hadBefore != hasAfter {
			return fwk.Queue, nil
		}
	}
	return fwk.QueueSkip, nil
}

// afterPodDelete: a pod frees bandwidth if its node's disk is known. Whether enough is for the attempt to find out.
func (pl *DiskIO) afterPodDelete(_ klog.Logger, _ *corev1.Pod, oldObj, _ any) (fwk.QueueingHint, error) {
	gone, ok := oldObj.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("pod event: want *v1.Pod, found %T", oldObj)
	}
	if pl.listed(gone) || pl.disks.Disks(gone.Spec.NodeName).DefaultDisk() == nil {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// afterNodeAdd: disks may be described before their node exists.
func (pl *DiskIO) afterNodeAdd(_ klog.Logger, _ *corev1.Pod, _, newObj any) (fwk.QueueingHint, error) {
	node, ok := newObj.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("node event: want *v1.Node, found %T", newObj)
	}
	if pl.disks.Disks(node.Name).DefaultDisk() == nil {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}
