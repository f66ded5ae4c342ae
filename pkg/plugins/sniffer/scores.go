package sniffer

import (
	"cmp"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Column is a plugin that scores nodes in a profile.
type Column struct {
	Name   string
	Weight int64
	// explainKey is where the plugin leaves its explainer.
	explainKey fwk.StateKey
}

// NewColumn returns the column of a plugin.
func NewColumn(name string, weight int64) Column {
	return Column{Name: name, Weight: weight, explainKey: fwk.StateKey(trace.ExplainKeyPrefix + name)}
}

// scored are the best nodes of an attempt, best first, the chosen one first of all.
type scored struct {
	top      []fwk.NodePluginScores
	terms    [][]trace.PluginTerms
	runnerUp string
	margin   int64
}

func (s *scored) reset() {
	clear(s.top)
	clear(s.terms)
	*s = scored{top: s.top[:0], terms: s.terms[:0]}
}

// take keeps the best nodes and asks the plugins about them. Nothing here changes d.Scores, which is the scheduler's.
func (s *scored) take(p *Profile, state fwk.CycleState, d Decision) {
	if len(d.Scores) == 0 {
		return
	}
	s.best(d, int(p.args.TopK))
	if len(s.top) > 1 {
		s.runnerUp, s.margin = s.top[1].Name, s.top[0].TotalScore-s.top[1].TotalScore
	}
	s.top = s.top[:min(len(s.top), int(p.args.TopK))]
	s.explain(p, state)
}

// best leaves the chosen node and then the others with the highest totals in top, at least two where there are two, so
// that there is a runner-up. Equal totals keep the order of d.Scores. One pass with a short sorted list is faster than
// sorting for the few nodes that are kept.
func (s *scored) best(d Decision, k int) {
	chosen := indexOf(d)
	if chosen < 0 {
		return // an extender or a plugin of another kind chose: nothing here explains that
	}
	keep := max(k, 2)
	s.top = append(s.top[:0], d.Scores[chosen])
	for i := range d.Scores {
		node := &d.Scores[i]
		if i == chosen || (len(s.top) == keep && node.TotalScore <= s.top[keep-1].TotalScore) {
			continue
		}
		at := len(s.top)
		for at > 1 && s.top[at-1].TotalScore < node.TotalScore {
			at--
		}
		if len(s.top) == keep {
			s.top = s.top[:keep-1]
		}
		s.top = slices.Insert(s.top, at, *node)
	}
}

// indexOf finds the chosen node. The scheduler's heap leaves it at the end of the list, which is tried first.
func indexOf(d Decision) int {
	if last := len(d.Scores) - 1; d.Scores[last].Name == d.Node {
		return last
	}
	return slices.IndexFunc(d.Scores, func(n fwk.NodePluginScores) bool { return n.Name == d.Node })
}

func (s *scored) explain(p *Profile, state fwk.CycleState) {
	for i := range p.columns {
		data, err := state.Read(p.columns[i].explainKey)
		if err != nil {
			continue
		}
		explainer, ok := data.(trace.Explainer)
		if !ok {
			continue
		}
		for len(s.terms) < len(s.top) {
			s.terms = append(s.terms, nil)
		}
		for at := range s.top {
			if terms := explainer.Explain(s.top[at].Name); len(terms) > 0 {
				s.terms[at] = append(s.terms[at], trace.PluginTerms{Plugin: p.columns[i].Name, Terms: terms})
			}
		}
	}
}

// record returns the scores as they are recorded, or nil if nothing was scored.
func (s *scored) record(p *Profile) *trace.Scores {
	if len(s.top) == 0 {
		return nil
	}
	out := &trace.Scores{RunnerUp: s.runnerUp, Margin: s.margin, Plugins: p.plugins(&s.top[0])}
	numbers := make([]int64, 3*len(out.Plugins)*len(s.top))
	row := func() []int64 {
		r := numbers[:len(out.Plugins):len(out.Plugins)]
		numbers = numbers[len(out.Plugins):]
		return r
	}
	out.Top = make([]trace.NodeScore, len(s.top))
	for i := range s.top {
		node := trace.NodeScore{
			Node: s.top[i].Name, Total: s.top[i].TotalScore, Raw: row(), Normalised: row(), Weighted: row(),
		}
		if i < len(s.terms) {
			node.Terms = s.terms[i]
		}
		fill(&node, &s.top[i], out.Plugins)
		out.Top[i] = node
	}
	return out
}

// fill sets a node's numbers. The framework lists plugins in one order for all nodes; extenders, which it adds behind
// them, may come in any, and have no raw score.
func fill(node *trace.NodeScore, scores *fwk.NodePluginScores, plugins []trace.ScorePlugin) {
	for i := range scores.Scores {
		column, score := i, scores.Scores[i].Score
		if i >= len(scores.RawScores) || plugins[min(i, len(plugins)-1)].Name != scores.Scores[i].Name {
			column = slices.IndexFunc(plugins, func(p trace.ScorePlugin) bool { return p.Name == scores.Scores[i].Name })
		}
		if column < 0 {
			continue
		}
		node.Weighted[column] += score
		node.Normalised[column] = node.Weighted[column] / plugins[column].Weight
		node.Raw[column] = node.Normalised[column]
		if i < len(scores.RawScores) {
			node.Raw[column] = scores.RawScores[i].Score
		}
	}
}

// plugins returns the columns of the plugins that scored the node.
func (p *Profile) plugins(node *fwk.NodePluginScores) []trace.ScorePlugin {
	out := make([]trace.ScorePlugin, 0, len(node.Scores))
	for i := range node.Scores {
		name := node.Scores[i].Name
		if slices.ContainsFunc(out, func(have trace.ScorePlugin) bool { return have.Name == name }) {
			continue
		}
		weight := int64(1)
		if at := slices.IndexFunc(p.columns, func(c Column) bool { return c.Name == name }); at >= 0 {
			weight = max(1, p.columns[at].Weight)
		}
		out = append(out, trace.ScorePlugin{Name: name, Weight: weight})
	}
	return out
}

// matrix returns the verdict on every node, in the order of their names.
func matrix(d Decision, all []rejected, candidate func(node string) bool) []trace.NodeVerdict {
	nodes := d.Nodes()
	byName := make(map[string]*trace.NodeVerdict, len(nodes))
	out := make([]trace.NodeVerdict, len(nodes))
	for i, node := range nodes {
		out[i] = trace.NodeVerdict{Node: node.Node().Name, Verdict: trace.VerdictNotEvaluated}
		if candidate != nil && !candidate(out[i].Node) {
			out[i].Verdict = trace.VerdictExcluded
		}
		byName[out[i].Node] = &out[i]
	}
	for i := range all {
		if v := byName[all[i].node]; v != nil {
			v.Verdict, v.Plugin, v.Reason = trace.VerdictRejected, all[i].status.Plugin(), all[i].status.Message()
		}
	}
	for i := range d.Scores {
		if v := byName[d.Scores[i].Name]; v != nil {
			v.Verdict, v.Total = trace.VerdictFeasible, d.Scores[i].TotalScore
			v.Raw, v.Weighted = numbers(d.Scores[i].RawScores), numbers(d.Scores[i].Scores)
		}
	}
	if v := byName[d.Node]; v != nil {
		v.Verdict = trace.VerdictFeasible
	}
	slices.SortFunc(out, func(a, b trace.NodeVerdict) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

func numbers(scores []fwk.PluginScore) []int64 {
	out := make([]int64, len(scores))
	for i := range scores {
		out[i] = scores[i].Score
	}
	return out
}
