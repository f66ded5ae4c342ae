package cacheaware

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// PreScore skips Score for pods to which all nodes are equal.
func (pl *CacheAware) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	if notFound(err) || err == nil && len(s.request) == 0 {
		return fwk.NewStatus(fwk.Skip)
	}
	return fwk.AsStatus(err)
}

// Score returns the mean nearness of the node to the pod's datasets, 0 to 100.
func (pl *CacheAware) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	s, err := stateOf(state)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	return s.request.Score(nodeOf(info.Node())), nil
}

// ScoreExtensions returns nil: the score is absolute and in range.
func (pl *CacheAware) ScoreExtensions() fwk.ScoreExtensions { return nil }
