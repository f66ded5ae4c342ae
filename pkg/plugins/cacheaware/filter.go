package cacheaware

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Filter rejects nodes that do not serve or hold each dataset of a pod whose policy is Required. Evicting pods
// would not bring the data there, hence UnschedulableAndUnresolvable.
func (pl *CacheAware) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	node := nodeOf(info.Node())
	for i, reach := range s.request {
		if !reach.Serves(node) {
			return fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
				fmt.Sprintf("node neither serves nor holds required dataset %q", s.names[i]))
		}
	}
	return nil
}
