package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Explanation is a decision in words.
type Explanation struct {
	// Headline is one sentence.
	Headline string `json:"headline"`
	// Details are further sentences, the most important first.
	Details []string `json:"details,omitempty"`
	// Advice says what would change the outcome.
	Advice []string `json:"advice,omitempty"`
}

// Attempt explains an attempt.
func Attempt(r *trace.Record) Explanation {
	switch r.Outcome {
	case trace.OutcomeBound, trace.OutcomeFits:
		return placed(r)
	case trace.OutcomeError:
		return failed(r)
	default:
		return nowhere(r)
	}
}

func placed(r *trace.Record) Explanation {
	e := Explanation{Headline: fmt.Sprintf("The pod is on %s: %s.", r.Node, howFound(r))}
	if r.Outcome == trace.OutcomeFits {
		e.Headline = fmt.Sprintf("The pod would fit on %s: %s. This was a trial of its pod group, nothing was bound.", r.Node, howFound(r))
	}
	if winner := scoreOf(r, r.Node); winner != nil {
		e.Details = append(e.Details, composition(r, winner))
		for _, terms := range winner.Terms {
			if text := describeTerms(terms); text != "" {
				e.Details = append(e.Details, text)
			}
		}
		if second := scoreOf(r, r.Scores.RunnerUp); second != nil && second != winner && second.Total != winner.Total {
			e.Details = append(e.Details, "Ahead of "+second.Node+" "+difference(r, winner, second)+".")
		}
	}
	e.Details = append(e.Details, rejections(r)...)
	if r.Permit != nil && r.Permit.Waited > 0 {
		e.Details = append(e.Details, fmt.Sprintf("It waited %s for %s to permit it.", r.Permit.Waited, waitedFor(r.Permit)))
	}
	return e
}

func waitedFor(p *trace.Permit) string {
	var plugins []string
	for _, wait := range p.Waits {
		plugins = append(plugins, wait.Plugin)
	}
	return strings.Join(plugins, " and ")
}

func howFound(r *trace.Record) string {
	switch r.Found {
	case trace.FoundScored:
		text := fmt.Sprintf("the highest score of %s", count(r.Nodes.Feasible, "node that passed every filter", "nodes that passed every filter"))
		if r.Scores == nil || r.Scores.RunnerUp == "" {
			return text
		}
		if r.Scores.Margin == 0 {
			return text + fmt.Sprintf(", level with %s: the choice between them was random", r.Scores.RunnerUp)
		}
		return text + fmt.Sprintf(", %d ahead of %s", r.Scores.Margin, r.Scores.RunnerUp)
	case trace.FoundOnlyFeasible:
		return "the only node that passed every filter, so nothing was scored"
	case trace.FoundNominated:
		return "it was nominated for that node before, and no other was looked at"
	case trace.FoundHint:
		return "the next best node of an equal pod's attempt just before, and no other was looked at"
	default:
		return "the record does not say how it was found"
	}
}

func failed(r *trace.Record) Explanation {
	why := cmp.Or(bare(r.Message), "no reason was given")
	e := Explanation{Headline: "The attempt failed, which says nothing about whether the pod fits: " + why + "."}
	if r.Plugin != "" {
		e.Details = append(e.Details, "The fault was reported by "+r.Plugin+".")
	}
	return e
}

func nowhere(r *trace.Record) Explanation {
	if r.Undo != nil {
		return Explanation{
			Headline: fmt.Sprintf("The pod has no node: %s had been reserved and was given back, because %s failed in %s: %s.",
				r.Node, cmp.Or(r.Undo.Plugin, "a plugin"), r.Undo.Stage, bare(cmp.Or(r.Undo.Reason, r.Message))),
			Advice: Advise(r.Undo.Plugin, r.Undo.Reason),
		}
	}
	e := Explanation{Headline: fmt.Sprintf("The pod has no node: none of %s took it.", count(r.Nodes.Total, "node", "nodes"))}
	if len(r.Rejections) == 0 {
		e.Details = append(e.Details, cmp.Or(r.Message, "The record has no reasons."))
	}
	e.Details = append(e.Details, rejections(r)...)
	for _, rejection := range r.Rejections {
		for _, advice := range Advise(rejection.Plugin, rejection.Reason) {
			if !slices.Contains(e.Advice, advice) {
				e.Advice = append(e.Advice, advice)
			}
		}
	}
	if p := r.Preemption; p != nil {
		e.Details = append(e.Details, preemption(p))
	}
	return e
}

func preemption(p *trace.Preemption) string {
	if p.NominatedNode == "" {
		return "Preemption did not help: " + cmp.Or(bare(p.Message), "no reason was given") + "."
	}
	text := "Room is being made on " + p.NominatedNode
	if len(p.Victims) == 0 {
		return text + "."
	}
	var names []string
	for _, victim := range p.Victims {
		names = append(names, victim.Namespace+"/"+victim.Name)
	}
	return text + " by removing " + strings.Join(names, ", ") + "."
}

// rejections are sentences about why nodes were left out.
func rejections(r *trace.Record) []string {
	var out []string
	for _, rejection := range r.Rejections {
		text := count(rejection.Nodes, "node was rejected", "nodes were rejected")
		if rejection.Stage == "PreFilter" {
			text = count(rejection.Nodes, "node was ruled out", "nodes were ruled out") + " before any was looked at"
		}
		text += ": " + reason(rejection.Plugin, rejection.Reason)
		if len(rejection.Sample) > 0 {
			text += " (" + strings.Join(rejection.Sample, ", ")
			if len(rejection.Sample) < rejection.Nodes {
				text += ", ..."
			}
			text += ")"
		}
		out = append(out, text+".")
	}
	if n := r.Nodes.NotEvaluated; n > 0 {
		out = append(out, count(n, "node was not looked at", "nodes were not looked at")+".")
	}
	return out
}

func reason(plugin, text string) string {
	text = bare(text)
	if plugin == "" {
		return text
	}
	return plugin + ", " + text
}

// bare leaves out the full stop of a sentence that is to become a part of another one.
func bare(text string) string { return strings.TrimRight(text, ". ") }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func scoreOf(r *trace.Record, node string) *trace.NodeScore {
	if r.Scores == nil || node == "" {
		return nil
	}
	for i := range r.Scores.Top {
		if r.Scores.Top[i].Node == node {
			return &r.Scores.Top[i]
		}
	}
	return nil
}

// part is one plugin's share of a score, or of the difference of two.
type part struct {
	plugin string
	points int64
}

func parts(r *trace.Record, of func(i int) int64) []part {
	var out []part
	for i, plugin := range r.Scores.Plugins {
		if points := of(i); points != 0 {
			out = append(out, part{plugin.Name, points})
		}
	}
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(abs(b.points), abs(a.points)) })
	return out
}

func abs(n int64) int64 { return max(n, -n) }

// at is element i of a list that a writer may have made too short.
func at(list []int64, i int) int64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func composition(r *trace.Record, n *trace.NodeScore) string {
	var texts []string
	for _, p := range parts(r, func(i int) int64 { return at(n.Weighted, i) }) {
		texts = append(texts, fmt.Sprintf("%s %d", p.plugin, p.points))
	}
	if len(texts) == 0 {
		return fmt.Sprintf("%s scored %d.", n.Node, n.Total)
	}
	return fmt.Sprintf("%s scored %d: %s.", n.Node, n.Total, strings.Join(texts, ", "))
}

// difference says which plugins made winner better than other, and which worse.
func difference(r *trace.Record, winner, other *trace.NodeScore) string {
	var for_, against []string
	for _, p := range parts(r, func(i int) int64 { return at(winner.Weighted, i) - at(other.Weighted, i) }) {
		text := fmt.Sprintf("%s (%+d)", p.plugin, p.points)
		if p.points > 0 {
			for_ = append(for_, text)
		} else {
			against = append(against, text)
		}
	}
	switch {
	case len(for_) == 0 && len(against) == 0:
		return "by nothing: both scored the same"
	case len(against) == 0:
		return "through " + strings.Join(for_, ", ")
	case len(for_) == 0:
		return "although " + strings.Join(against, ", ") + " spoke against it"
	default:
		return "through " + strings.Join(for_, ", ") + ", although " + strings.Join(against, ", ") + " spoke against it"
	}
}

func describeTerms(p trace.PluginTerms) string {
	var texts []string
	for _, term := range p.Terms {
		text := term.Name
		if term.Value != 0 || term.Text == "" {
			text += " " + quantity(term.Value, term.Unit)
		}
		if term.Text != "" {
			text += " " + term.Text
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return p.Plugin + ": " + strings.Join(texts, "; ") + "."
}

func quantity(value float64, unit string) string {
	switch unit {
	case "share":
		return fmt.Sprintf("%.0f %%", 100*value)
	case "bytes", "bytes/s":
		prefixes := []string{" B", " KiB", " MiB", " GiB", " TiB"}
		i := 0
		for ; (value >= 1024 || value <= -1024) && i < len(prefixes)-1; i++ {
			value /= 1024
		}
		return fmt.Sprintf("%.4g%s%s", value, prefixes[i], strings.TrimPrefix(unit, "bytes"))
	case "":
		return fmt.Sprintf("%.4g", value)
	default:
		return fmt.Sprintf("%.4g %s", value, unit)
	}
}
