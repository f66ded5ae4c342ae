package cacheaware

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
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// EventsToRegister names the core events that can help a pod this plugin rejected. Changes of datasets are not
// among them: the scheduler cannot register events of resources that may be absent, so waitingPods handles them.
func (pl *CacheAware) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// An annotation edit is an Update of no finer kind.
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.Update}, QueueingHintFn: pl.afterPodUpdate},
		{
			// Labels may name places, and Fluid's name datasets; conditions and taints (which stand for cordons) make
			// a node usable.
			Event: fwk.ClusterEvent{
				Resource:   fwk.Node,
				ActionType: fwk.Add | fwk.UpdateNodeLabel | fwk.UpdateNodeCondition | fwk.UpdateNodeTaint,
			},
			QueueingHintFn: pl.afterNodeChange,
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.PersistentVolumeClaim, ActionType: fwk.Add | fwk.Update},
			QueueingHintFn: pl.afterClaimChange,
		},
	}, nil
}

// afterPodUpdate: the pod helps itself only by what this plugin reads of it.
func (pl *CacheAware) afterPodUpdate(_ klog.Logger, _ *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, after, err := asPods(oldObj, newObj)
	if err != nil {
		return fwk.Queue, err
	}
	for _, key := range []string{vicinityv1alpha1.DatasetPolicyAnnotation, vicinityv1alpha1.DatasetWaitAnnotation} {
		valueBefore, hadBefore := before.Annotations[key]
		valueAfter, hasAfter := after.Annotations[key]
		if valueBefore != valueAfter || hadBefore != hasAfter {
			return fwk.Queue, nil
		}
	}
	if !maps.Equal(datasetLabels(before), datasetLabels(after)) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

func asPods(oldObj, newObj any) (before, after *corev1.Pod, err error) {
	before, ok := oldObj.(*corev1.Pod)
	if !ok {
		return nil, nil, fmt.Errorf("pod event: want *v1.Pod, found %T", oldObj)
	}
	after, ok = newObj.(*corev1.Pod)
	if !ok {
		return nil, nil, fmt.Errorf("pod event: want *v1.Pod, found %T", newObj)
	}
	return before, after, nil
}

func datasetLabels(pod *corev1.Pod) map[string]string {
	labels := maps.Clone(pod.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool {
		return !strings.HasPrefix(key, vicinityv1alpha1.DatasetLabelPrefix) && !strings.HasPrefix(key, fluidSchedPrefix)
	})
	return labels
}

// afterNodeChange: a node helps only if it is near enough to every dataset that the pod must be near to.
func (pl *CacheAware) afterNodeChange(_ klog.Logger, pod *corev1.Pod, _, newObj any) (fwk.QueueingHint, error) {
	node, ok := newObj.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("node event: want *v1.Node, found %T", newObj)
	}
	w, err := pl.wish(pod)
	if err != nil {
		return fwk.QueueSkip, nil //nolint:nilerr // no node mends what the pod's labels lack
	}
	now := pl.clock.Now()
	admitted, _ := pl.patience(w.wait).Admits(waited(pod, now))
	for _, wanted := range w.datasets {
		farthest := admitted
		if wanted.required && w.wait == 0 {
			farthest = 0
		}
		dataset, _ := pl.known(wanted.key, now)
		if locality.NewReach(wanted.key, dataset, pl.rules, pl.nodes).Distance(nodeOf(node)) > farthest {
			return fwk.QueueSkip, nil
		}
	}
	return fwk.Queue, nil
}

// afterClaimChange: a claim of the pod's own may turn out to be that of another dataset.
func (pl *CacheAware) afterClaimChange(_ klog.Logger, pod *corev1.Pod, _, newObj any) (fwk.QueueingHint, error) {
	claim, ok := newObj.(*corev1.PersistentVolumeClaim)
	if !ok {
		return fwk.Queue, fmt.Errorf("volume claim event: want *v1.PersistentVolumeClaim, found %T", newObj)
	}
	uses := claim.Namespace == pod.Namespace && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name
	})
	if !uses {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}
