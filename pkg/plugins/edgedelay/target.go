package edgedelay

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// maxTargetNodes bounds the nodes that one bound may refer to. What is within reach of so many places is better said by
// a zone.
const maxTargetNodes = 512

// target is what a bound refers to now.
type target struct {
	refs []string // nodes or endpoints, sorted
	zone string   // instead
}

// find returns what a pod's bound refers to. The error is for the user, and says what the pod waits for.
func (s *Shared) find(pod *corev1.Pod, bound *vicinityv1alpha1.DelayBound) (target, error) {
	switch to := bound.To; to.Kind {
	case vicinityv1alpha1.DelayToReference:
		return s.findReference(pod, to)
	case vicinityv1alpha1.DelayToNode:
		if !s.knowsNode(to.Name) {
			return target{}, fmt.Errorf("there is no node %q; the pod waits for one", to.Name)
		}
		return target{refs: []string{to.Name}}, nil
	case vicinityv1alpha1.DelayToZone:
		if !s.store.HasZone(to.Name) {
			return target{}, fmt.Errorf("no node is in zone %q; the pod waits for one", to.Name)
		}
		return target{zone: to.Name}, nil
	case vicinityv1alpha1.DelayToEndpoint:
		name := delay.EndpointName(to.Name)
		if !s.store.Knows(name) {
			return target{}, fmt.Errorf("no agent has measured the way to endpoint %q yet; the pod waits for one", to.Name)
		}
		return target{refs: []string{name}}, nil
	default:
		return s.findOnly(pod, to)
	}
}

// findOnly looks for pods, and for nothing else if there are none.
func (s *Shared) findOnly(pod *corev1.Pod, to vicinityv1alpha1.DelayTarget) (target, error) {
	if to.Namespace == "" {
		to.Namespace = pod.Namespace
	}
	found, err := s.findPods(pod, to)
	if err != nil {
		return target{}, err
	}
	if found == nil {
		return target{}, fmt.Errorf("there is no pod of %s; the pod waits for one", to)
	}
	return *found, nil
}

// knowsNode: a node that was removed goes on to be referred to as long as others report the way to it.
func (s *Shared) knowsNode(name string) bool {
	if _, err := s.nodes.Get(name); err == nil {
		return true
	}
	return s.store.Knows(name)
}

// findReference looks for a node, then for workloads.
func (s *Shared) findReference(pod *corev1.Pod, to vicinityv1alpha1.DelayTarget) (target, error) {
	if s.knowsNode(to.Name) {
		return target{refs: []string{to.Name}}, nil
	}
	for _, candidate := range vicinityv1alpha1.ParseDelayReference(to.Name, pod.Namespace) {
		found, err := s.findPods(pod, candidate)
		if err != nil {
			return target{}, err
		}
		if found != nil {
			return *found, nil
		}
	}
	return target{}, fmt.Errorf("nothing is called %q, neither a node nor a workload in namespace %q; the pod waits for one",
		to.Name, pod.Namespace)
}

// findPods returns the nodes of the pods that the target means; nil when there is no such pod.
func (s *Shared) findPods(pod *corev1.Pod, to vicinityv1alpha1.DelayTarget) (*target, error) {
	pods, err := s.podsOf(to)
	if err != nil {
		return nil, err
	}
	own, exist := false, false
	found := &target{}
	for _, other := range pods {
		if other.UID == pod.UID {
			own = true
			continue
		}
		if !counts(other) {
			continue
		}
		exist = true
		if node := s.nodeOf(other); node != "" {
			found.refs = append(found.refs, node)
		}
	}
	slices.Sort(found.refs)
	found.refs = slices.Compact(found.refs)
	switch {
	case len(found.refs) > maxTargetNodes:
		return nil, fmt.Errorf("%s is on %d nodes; want a bound to something on at most %d, or to a zone", to, len(found.refs), maxTargetNodes)
	case len(found.refs) > 0 || own:
		return found, nil
	case exist:
		return nil, fmt.Errorf("no pod of %s has a node yet; the pod waits for one", to)
	default:
		return nil, nil //nolint:nilnil // nothing found is no fault of its own: the reference may mean something else
	}
}

// counts leaves out pods that have ended or are about to.
func counts(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// podsOf returns the pods that the target means, placed or not.
func (s *Shared) podsOf(to vicinityv1alpha1.DelayTarget) ([]*corev1.Pod, error) {
	if to.Kind == vicinityv1alpha1.DelayToSelector {
		selector, err := labels.Parse(to.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", to, err)
		}
		pods, err := s.pods.Pods(to.Namespace).List(selector)
		if err != nil {
			return nil, fmt.Errorf("listing pods of %s: %w", to, err)
		}
		return pods, nil
	}
	objs, err := s.indexer.ByIndex(podsByWorkload, to.Namespace+"/"+to.Name)
	if err != nil {
		return nil, fmt.Errorf("looking for pods of %s: %w", to, err)
	}
	pods := make([]*corev1.Pod, 0, len(objs)+1)
	for _, obj := range objs {
		if pod, ok := obj.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	if pod, err := s.pods.Pods(to.Namespace).Get(to.Name); err == nil {
		pods = append(pods, pod)
	}
	return pods, nil
}

// means reports whether the target could mean the pod.
func means(to vicinityv1alpha1.DelayTarget, ownNamespace string, other *corev1.Pod) bool {
	switch to.Kind {
	case vicinityv1alpha1.DelayToReference:
		return slices.ContainsFunc(vicinityv1alpha1.ParseDelayReference(to.Name, ownNamespace),
			func(candidate vicinityv1alpha1.DelayTarget) bool { return means(candidate, ownNamespace, other) })
	case vicinityv1alpha1.DelayToWorkload, vicinityv1alpha1.DelayToSelector:
	default:
		return false
	}
	namespace := to.Namespace
	if namespace == "" {
		namespace = ownNamespace
	}
	if namespace != other.Namespace {
		return false
	}
	if to.Kind == vicinityv1alpha1.DelayToSelector {
		selector, err := labels.Parse(to.Name)
		return err == nil && selector.Matches(labels.Set(other.Labels))
	}
	return other.Name == to.Name || slices.Contains(workloadsOf(other), to.Name)
}
