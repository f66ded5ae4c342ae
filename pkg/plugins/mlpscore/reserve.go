package mlpscore

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// winner is the node that the plugin alone would choose.
func (pl *MLPScore) winner(s *podState, nodes []fwk.NodeInfo) string {
	var best fwk.NodeScore
	for _, info := range nodes {
		score := fwk.NodeScore{Name: info.Node().Name, Score: pl.score(s, info)}
		if best.Name == "" || beats(&score, &best) {
			best = score
		}
	}
	return best.Name
}

// Reserve counts, in mode Shadow, whether the network would have chosen the node, too.
func (pl *MLPScore) Reserve(_ context.Context, state fwk.CycleState, _ *corev1.Pod, node string) *fwk.Status {
	data, err := state.Read(scoreKey)
	if err != nil {
		return nil // the pod was not scored: it had one feasible node, or the mode is Off
	}
	if s, ok := data.(*podState); ok && s.winner != "" {
		pl.metrics.compared(s.winner == node)
	}
	return nil
}

// Unreserve does nothing: Reserve has only counted.
func (pl *MLPScore) Unreserve(context.Context, fwk.CycleState, *corev1.Pod, string) {}
