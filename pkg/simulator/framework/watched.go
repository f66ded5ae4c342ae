package framework

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// watched is a profile's framework that notes what plugins say, for one decision.
type watched struct {
	*tamed
	// verdicts are by node.
	verdicts []Verdict
}

// RunPreFilterPlugins notes who rejects the pod everywhere, or all but a few nodes.
func (w *watched) RunPreFilterPlugins(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod,
) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	result, status, narrowing := w.tamed.RunPreFilterPlugins(ctx, state, pod)
	for i := range w.verdicts {
		v := &w.verdicts[i]
		switch {
		case !status.IsSuccess():
			v.Plugin, v.Reason = status.Plugin(), status.Message()
		case !result.AllNodes() && !result.NodeNames.Has(v.Node):
			v.Plugin = strings.Join(sets.List(narrowing), ", ")
			v.Reason = fmt.Sprintf("the pod asks for one of %d other nodes", len(result.NodeNames))
		}
	}
	return result, status, narrowing
}

// RunFilterPluginsWithNominatedPods notes who rejects the node.
func (w *watched) RunFilterPluginsWithNominatedPods(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo,
) *fwk.Status {
	status := w.tamed.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if !status.IsSuccess() {
		v := &w.verdicts[w.rank[node.Node().Name]]
		v.Plugin, v.Reason = status.Plugin(), status.Message()
	}
	return status
}

// RunScorePlugins notes the scores.
func (w *watched) RunScorePlugins(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := w.tamed.RunScorePlugins(ctx, state, pod, nodes)
	for i := range scores {
		v := &w.verdicts[w.rank[scores[i].Name]]
		v.Total = scores[i].TotalScore
		for _, score := range scores[i].Scores {
			s := Score{Plugin: score.Name, Weighted: score.Score}
			if raw := slices.IndexFunc(scores[i].RawScores, func(r fwk.PluginScore) bool { return r.Name == score.Name }); raw >= 0 {
				s.Raw = scores[i].RawScores[raw].Score
			}
			v.Scores = append(v.Scores, s)
		}
	}
	return scores, status
}

// compareVerdicts puts the chosen node first, then the others that were possible by their scores, then the rest.
func compareVerdicts(chosen string, a, b *Verdict) int {
	first := func(v *Verdict) int {
		switch {
		case v.Node == chosen:
			return 0
		case v.Plugin == "":
			return 1
		default:
			return 2
		}
	}
	return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Node, b.Node))
}
