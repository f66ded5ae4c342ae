package cacheaware

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// PostFilter adds a reason and changes nothing. Of the nodes that PreFilter left out the scheduler says only that they
// did not satisfy the plugin; here the user learns for which dataset.
func (pl *CacheAware) PostFilter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ fwk.NodeToStatusReader,
) (*fwk.PostFilterResult, *fwk.Status) {
	s, err := stateOf(state)
	if err != nil || len(s.limits) == 0 {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	scarcest := s.limits[0].reach
	return nil, fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf(
		"required dataset %q is missing on most nodes: %d place(s) hold it", scarcest.Key, scarcest.Places()))
}
