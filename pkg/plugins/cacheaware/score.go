package cacheaware

import (
	"context"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// scoreKey is where PreScore leaves what Score needs.
const scoreKey = fwk.StateKey("PreScore" + Name)

// scoreState is written once, by PreScore, and read only from then on.
type scoreState struct {
	request *locality.Request // nil: none of the pod's datasets is anywhere
	home    string            // the home node of a pod whose datasets are all cold; "": none
	shy     bool              // the pod has no dataset and is to leave cache nodes to others
}

// Clone returns the receiver: nothing changes it after PreScore.
func (s *scoreState) Clone() fwk.StateData { return s }

// PreScore prepares Score, or skips it for pods to which all nodes are equal.
func (pl *CacheAware) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	out := &scoreState{}
	switch {
	case notFound(err):
		out.shy = pl.args.KeepOthersAwayPercent > 0
	case err != nil:
		return fwk.AsStatus(err)
	case len(s.reaches) > 0:
		out.request = locality.NewRequest(s.reaches, pl.rules)
	case len(s.cold) > 0:
		// One home for all: the pod goes to one node anyway.
		out.home = locality.Home(slices.MinFunc(s.cold, locality.DatasetKey.Compare), namesOf(nodes))
	}
	if out.request == nil && out.home == "" && !out.shy {
		return fwk.NewStatus(fwk.Skip)
	}
	state.Write(scoreKey, out)
	state.Write(explainKey, &explainer{scoreState: out, pl: pl})
	return nil
}

func namesOf(nodes []fwk.NodeInfo) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, node := range nodes {
			if !yield(node.Node().Name) {
				return
			}
		}
	}
}

// Score returns the expected share of bytes that the node saves, 0 to 100.
func (pl *CacheAware) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	s, err := read[*scoreState](state, scoreKey)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	node := info.Node()
	switch {
	case s.request != nil:
		return s.request.Score(nodeOf(node)), nil
	case s.shy && !pl.datasets.HoldsData(nodeOf(node), pl.args.Sources):
		return int64(pl.args.KeepOthersAwayPercent), nil
	case node.Name == s.home:
		return int64(pl.args.ColdData.HomePercent), nil
	default:
		return 0, nil
	}
}

// ScoreExtensions returns nil: the score is absolute and in range.
func (pl *CacheAware) ScoreExtensions() fwk.ScoreExtensions { return nil }
