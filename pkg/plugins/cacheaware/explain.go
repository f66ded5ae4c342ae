package cacheaware

import (
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// explainKey is where PreScore leaves what explains scores to whoever records them.
const explainKey = fwk.StateKey(trace.ExplainKeyPrefix + Name)

// explainer says how a node came to its score.
type explainer struct {
	*scoreState
	pl *CacheAware
}

var _ trace.Explainer = (*explainer)(nil)

// Clone returns the receiver: nothing changes it.
func (e *explainer) Clone() fwk.StateData { return e }

// Explain returns a term for each dataset that is somewhere: the share of its bytes that the node saves, and how near
// the place is that it saves them from.
func (e *explainer) Explain(nodeName string) []trace.Term {
	node, ok := e.pl.nodes.Named(nodeName)
	switch {
	case !ok:
		return nil
	case e.request != nil:
		return datasetTerms(e.request.Explain(node).Terms, e.pl.rules.Tiers)
	case e.shy:
		if e.pl.datasets.HoldsData(node, e.pl.args.Sources) {
			return []trace.Term{{Name: "keepOthersAway", Text: "the node holds data that this pod does not use"}}
		}
		return []trace.Term{{Name: "keepOthersAway", Value: float64(e.pl.args.KeepOthersAwayPercent), Unit: "points"}}
	case nodeName == e.home:
		return []trace.Term{{Name: "home", Value: float64(e.pl.args.ColdData.HomePercent), Unit: "points", Text: "home of the cold dataset"}}
	}
	return nil
}

func datasetTerms(terms []locality.Term, tiers locality.Tiers) []trace.Term {
	out := make([]trace.Term, len(terms))
	for i, term := range terms {
		out[i] = trace.Term{Name: term.Dataset.Name, Value: term.Value, Unit: "share", Text: tierName(tiers, term.From)}
	}
	return out
}
