package sniffer

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	// maxNominations bounds the pods for which room is being made that are remembered.
	maxNominations = 4096
	// maxEarly and earlyAge bound victims that are seen before the attempt that preempted them has ended.
	maxEarly = 256
	earlyAge = 30 * time.Second
)

// nomination is a pod for which room is being made on a node.
type nomination struct {
	pod     *corev1.Pod
	attempt int
	profile *Profile
	node    string
	since   time.Time
	victims []trace.Victim
}

// evictions connects pods that were preempted with those that they had to go for. The condition that marks a victim does
// not name the preemptor: it is the pod that was nominated last for the victim's node, among those with a higher
// priority. Victims are marked in the background, mostly after the attempt has ended, sometimes before. The recorder's
// mutex guards it.
type evictions struct {
	nominated map[types.UID]*nomination
	order     []types.UID // oldest first; may hold pods that are nominated no more
	early     []trace.Victim
	seen      map[types.UID]struct{} // of victims that were matched, until their pod is gone
}

func newEvictions() evictions {
	return evictions{nominated: map[types.UID]*nomination{}, seen: map[types.UID]struct{}{}}
}

// nominate remembers the nomination, and returns the victims on its node that were seen already.
func (e *evictions) nominate(n *nomination) []trace.Victim {
	e.order = slices.DeleteFunc(e.order, func(uid types.UID) bool { return uid == n.pod.UID || e.nominated[uid] == nil })
	if len(e.order) >= maxNominations {
		delete(e.nominated, e.order[0])
		e.order = e.order[1:]
	}
	e.order = append(e.order, n.pod.UID)
	e.nominated[n.pod.UID] = n
	e.early = slices.DeleteFunc(e.early, func(v trace.Victim) bool {
		if v.Node != n.node || v.Priority >= priority(n.pod) || v.Time.Before(n.since.Truncate(time.Second)) {
			return false
		}
		n.victims = append(n.victims, v)
		return true
	})
	return slices.Clone(n.victims)
}

// end forgets the pod's nomination, and returns its node and its victims.
func (e *evictions) end(uid types.UID) (node string, victims []trace.Victim) {
	n := e.nominated[uid]
	if n == nil {
		return "", nil
	}
	delete(e.nominated, uid)
	return n.node, n.victims
}

// evict notes that a pod was marked as a victim, and returns the nomination that it had to go for, or nil if that is not
// known yet or was noted before.
func (e *evictions) evict(v trace.Victim, now time.Time) *nomination {
	if _, seen := e.seen[types.UID(v.UID)]; seen {
		return nil
	}
	e.seen[types.UID(v.UID)] = struct{}{}
	for _, uid := range slices.Backward(e.order) {
		if n := e.nominated[uid]; n != nil && n.node == v.Node && priority(n.pod) > v.Priority {
			n.victims = append(n.victims, v)
			return n
		}
	}
	e.early = slices.DeleteFunc(e.early, func(old trace.Victim) bool { return now.Sub(old.Time) > earlyAge })
	if len(e.early) < maxEarly {
		e.early = append(e.early, v)
	}
	return nil
}

// gone forgets a victim that is deleted.
func (e *evictions) gone(uid types.UID) { delete(e.seen, uid) }

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// victimOf returns the pod as a victim of preemption, if it is marked as one.
func victimOf(pod *corev1.Pod) (trace.Victim, bool) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler {
			return trace.Victim{
				Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName, Priority: priority(pod),
				Time: c.LastTransitionTime.UTC(),
			}, true
		}
	}
	return trace.Victim{}, false
}

// podChanged looks for pods that are marked as victims.
func (r *Recorder) podChanged(pod *corev1.Pod) {
	victim, marked := victimOf(pod)
	if !marked {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.evicted.evict(victim, r.clock.Now())
	if n == nil {
		return
	}
	r.metrics.victims.Inc()
	a := n.profile.attempt(Beginning{Pod: n.pod, Number: n.attempt})
	a.kind, a.start, a.nominated, a.victims = trace.KindVictims, n.since, n.node, []trace.Victim{victim}
	r.finish(a)
}

// podDeleted forgets a pod. A victim may be gone before anyone saw its mark.
func (r *Recorder) podDeleted(pod *corev1.Pod) {
	r.podChanged(pod)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.evicted.gone(pod.UID)
	r.evicted.end(pod.UID)
}
