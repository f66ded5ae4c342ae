package sniffer

import (
	"slices"
	"strings"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	// maxGroups bounds how many reasons an attempt tells apart; what comes after is counted under one reason.
	maxGroups = 24
	// sampleNodes is how many nodes are named for each reason.
	sampleNodes = 3
	otherReason = "other reasons"

	stagePreFilter = "PreFilter"
	stageFilter    = "Filter"
)

// Tally collects the nodes that filters reject during one scheduling cycle. Filters run in parallel; cycles do not, so
// one tally serves all cycles of a profile.
type Tally struct {
	used  atomic.Int32
	nodes []rejected
}

type rejected struct {
	node   string
	status *fwk.Status
}

// reset empties the tally and makes room for the given number of nodes. A node that is tried first, for being nominated,
// may be tried a second time with the others.
func (t *Tally) reset(nodes int) {
	t.used.Store(0)
	if len(t.nodes) < nodes+1 {
		t.nodes = make([]rejected, nodes+nodes/4+1)
	}
}

// Reject notes that a filter rejected the node. It may be called by several goroutines at once.
func (t *Tally) Reject(node string, status *fwk.Status) {
	if i := int(t.used.Add(1)) - 1; i < len(t.nodes) {
		t.nodes[i] = rejected{node: node, status: status}
	}
}

// rejections returns what was noted since the last reset, without a first trial of the nominee that was repeated.
func (t *Tally) rejections(nominee string) []rejected {
	all := t.nodes[:min(int(t.used.Load()), len(t.nodes))]
	if nominee == "" || len(all) < 2 || all[0].node != nominee {
		return all
	}
	if slices.ContainsFunc(all[1:], func(r rejected) bool { return r.node == nominee }) {
		return all[1:]
	}
	return all
}

// clear lets go of what the tally refers to.
func (t *Tally) clear() {
	clear(t.nodes[:min(int(t.used.Load()), len(t.nodes))])
	t.used.Store(0)
}

// group is one reason for which nodes were left out.
type group struct {
	plugin     string
	reasons    []string
	stage      string
	resolvable bool
	nodes      int
	sample     [sampleNodes]string
}

func (g *group) holds(plugin string, reasons []string) bool {
	return g.plugin == plugin && slices.Equal(g.reasons, reasons)
}

func (g *group) add(node string) {
	if g.nodes < sampleNodes {
		g.sample[g.nodes] = node
	}
	g.nodes++
}

// summarise groups rejections by plugin and reason. Neighbours mostly have the same reason, so the last group is tried
// first.
func summarise(groups []group, all []rejected) []group {
	last := -1
	for i := range all {
		status := all[i].status
		plugin, reasons := status.Plugin(), status.Reasons()
		if last < 0 || !groups[last].holds(plugin, reasons) {
			last = slices.IndexFunc(groups, func(g group) bool { return g.holds(plugin, reasons) })
		}
		if last < 0 {
			groups, last = appendGroup(groups, plugin, reasons, status.Code() == fwk.Unschedulable)
		}
		groups[last].add(all[i].node)
	}
	return groups
}

// appendGroup adds a group, or returns the one for all other reasons where there are too many.
func appendGroup(groups []group, plugin string, reasons []string, resolvable bool) (_ []group, index int) {
	if len(groups) < maxGroups {
		return append(groups, group{plugin: plugin, reasons: reasons, stage: stageFilter, resolvable: resolvable}), len(groups)
	}
	if len(groups) == maxGroups {
		groups = append(groups, group{reasons: []string{otherReason}, stage: stageFilter})
	}
	return groups, maxGroups
}

// rejection returns the group as it is recorded.
func (g *group) rejection() trace.Rejection {
	return trace.Rejection{
		Plugin: g.plugin, Reason: strings.Join(g.reasons, ", "), Stage: g.stage, Resolvable: g.resolvable, Nodes: g.nodes,
		Sample: g.names(),
	}
}

// names returns the nodes that are named; none where the pod was rejected for all nodes at once.
func (g *group) names() []string {
	if g.stage == stagePreFilter {
		return nil
	}
	return slices.Clone(g.sample[:min(g.nodes, sampleNodes)])
}
