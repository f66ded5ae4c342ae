package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// WhyNot says why an attempt did not end on a node. matrixHint says how to have every node recorded; it is added where
// the record does not know the node.
func WhyNot(r *trace.Record, node, matrixHint string) string {
	if node == r.Node && r.Outcome == trace.OutcomeBound {
		return fmt.Sprintf("The pod is on %s.", node)
	}
	if i := slices.IndexFunc(r.Matrix, func(v trace.NodeVerdict) bool { return v.Node == node }); i >= 0 {
		return fromMatrix(r, &r.Matrix[i])
	}
	for i := range r.Rejections {
		if rejection := &r.Rejections[i]; slices.Contains(rejection.Sample, node) {
			return withAdvice(node+" was rejected", rejection.Plugin, rejection.Reason)
		}
	}
	if score := scoreOf(r, node); score != nil {
		if winner := scoreOf(r, r.Node); winner != nil {
			return fmt.Sprintf("%s passed every filter and scored %d, %s scored %d. %s is ahead %s.",
				node, score.Total, winner.Node, winner.Total, winner.Node, difference(r, winner, score))
		}
	}
	return unknown(r, node, matrixHint)
}

func fromMatrix(r *trace.Record, v *trace.NodeVerdict) string {
	switch v.Verdict {
	case trace.VerdictRejected:
		return withAdvice(v.Node+" was rejected", v.Plugin, v.Reason)
	case trace.VerdictExcluded:
		return withAdvice(v.Node+" was ruled out before any node was looked at", v.Plugin, v.Reason)
	case trace.VerdictNotEvaluated:
		return fmt.Sprintf("%s was not looked at: enough other nodes had been found, or one was tried first and taken.", v.Node)
	case trace.VerdictFeasible:
	}
	winner := scoreOf(r, r.Node)
	if winner == nil || r.Scores == nil {
		return fmt.Sprintf("%s passed every filter, and another node was taken.", v.Node)
	}
	other := &trace.NodeScore{Node: v.Node, Total: v.Total, Weighted: v.Weighted}
	return fmt.Sprintf("%s passed every filter and scored %d, %s scored %d. %s is ahead %s.",
		v.Node, v.Total, winner.Node, winner.Total, winner.Node, difference(r, winner, other))
}

// withAdvice ends a sentence with the reason, and adds what would change it.
func withAdvice(text, plugin, why string) string {
	text += ": " + reason(plugin, why) + "."
	if advice := Advise(plugin, why); len(advice) > 0 {
		return text + " " + strings.Join(advice, " ")
	}
	return text
}

// unknown says what a node that the record does not name may have met.
func unknown(r *trace.Record, node, matrixHint string) string {
	var may []string
	for i := range r.Rejections {
		rejection := &r.Rejections[i]
		if hidden := rejection.Nodes - len(rejection.Sample); hidden > 0 {
			may = append(may, fmt.Sprintf("%s for %s", count(hidden, "was rejected", "were rejected"), reason(rejection.Plugin, rejection.Reason)))
		}
	}
	if r.Scores != nil {
		if hidden := r.Nodes.Feasible - len(r.Scores.Top); hidden > 0 {
			may = append(may, fmt.Sprintf("%d scored below the %d best", hidden, len(r.Scores.Top)))
		}
	}
	if r.Nodes.NotEvaluated > 0 {
		may = append(may, count(r.Nodes.NotEvaluated, "was not looked at", "were not looked at"))
	}
	text := fmt.Sprintf("The record does not name %s.", node)
	if len(may) > 0 {
		text += " Of the nodes that it does not name, " + strings.Join(may, "; ") + "."
	} else {
		text += " Perhaps it was not there at that time."
	}
	if matrixHint != "" {
		text += " " + matrixHint
	}
	return text
}
