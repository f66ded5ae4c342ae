package framework

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
)

// tamed is a profile's framework without what is no input: see the package's description.
type tamed struct {
	framework.Framework
	// rank is a node's place in the experiment's order, by name.
	rank map[string]int
	// rand draws among equals; nil lets the first one win.
	rand *dice.Rand
}

// GetNodeHint never reuses the last pod's scores: whether it would depends on the time of day.
func (*tamed) GetNodeHint(context.Context, *corev1.Pod, fwk.PodSignature, fwk.CycleState, int64) string {
	return ""
}

// StoreScheduleResults forgets them.
func (*tamed) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}

// RunScorePlugins marks who wins among equals.
func (t *tamed) RunScorePlugins(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := t.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if status.IsSuccess() && len(scores) > 0 {
		scores[t.winner(scores)].Randomizer = 1
	}
	return scores, status
}

// winner is the place of the node that gets the pod.
func (t *tamed) winner(scores []fwk.NodePluginScores) int {
	if t.rand == nil {
		best, rank := 0, t.rank[scores[0].Name]
		for i := 1; i < len(scores); i++ {
			switch score, most := scores[i].TotalScore, scores[best].TotalScore; {
			case score > most:
				best, rank = i, t.rank[scores[i].Name]
			case score == most && t.rank[scores[i].Name] < rank:
				best, rank = i, t.rank[scores[i].Name]
			}
		}
		return best
	}
	return t.drawn(scores)
}

// drawn draws as native policies do: in the experiment's order, each further equal of the best so far replaces it with
// probability one in the number of equals.
func (t *tamed) drawn(scores []fwk.NodePluginScores) int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return t.rank[scores[a].Name] - t.rank[scores[b].Name] })
	best, equals := order[0], 1
	for _, at := range order[1:] {
		switch {
		case scores[at].TotalScore > scores[best].TotalScore:
			best, equals = at, 1
		case scores[at].TotalScore == scores[best].TotalScore:
			equals++
			if t.rand.Intn(equals) == 0 {
				best = at
			}
		}
	}
	return best
}
