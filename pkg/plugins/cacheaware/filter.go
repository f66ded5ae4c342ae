package cacheaware

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// Filter rejects nodes that are farther from a dataset than the pod accepts. Evicting pods would not bring the
// data nearer, hence UnschedulableAndUnresolvable.
func (pl *CacheAware) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	node := nodeOf(info.Node())
	for i := range s.limits {
		if l := &s.limits[i]; l.reach.Distance(node) > l.farthest {
			return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, l.reason())
		}
	}
	return nil
}

func (l *limit) reason() string {
	if l.farthest == locality.Distance(0) {
		return "node(s) didn't hold required dataset \"" + l.reach.Key.String() + "\""
	}
	return "node(s) were too far from dataset \"" + l.reach.Key.String() + "\" while the pod waits for a warm node"
}
