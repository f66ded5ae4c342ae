package sniffer

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// stateKey is where the attempt is in the cycle's state.
const stateKey = fwk.StateKey(Name)

// Beginning is what is known of an attempt when it begins.
type Beginning struct {
	Pod    *corev1.Pod
	Number int
	Cycle  int64
	// Tentative says that the attempt is a trial in a pod group's cycle.
	Tentative bool
	// Queued is when the pod was put into the queue, FirstAttempt when its first attempt began; zero where not known.
	Queued, FirstAttempt time.Time
	// Nodes is how many nodes there are.
	Nodes int
}

// Attempt is one attempt to schedule a pod while it goes on. Its methods are called by the goroutine that has the
// attempt: the one that schedules, then the one that binds.
type Attempt struct {
	Beginning

	profile  *Profile
	older    *Attempt // an earlier trial of the same pod in the same cycle
	recorder *Recorder

	kind       trace.Kind
	sequence   uint64
	start, end time.Time
	phases     []trace.Phase

	nominee, hint string
	groups        []group
	counts        trace.NodeCounts
	scored        scored
	matrix        []trace.NodeVerdict
	candidate     func(node string) bool // nil: PreFilter left all nodes over

	node, nominated   string
	found             trace.Found
	outcome           trace.Outcome
	plugin, message   string
	preemptionMessage string
	victims           []trace.Victim
	permit            []trace.PermitWait
	waited            time.Duration
	undo              trace.Undo
}

// Clone returns the receiver: a copy of the cycle's state is of the same attempt.
func (a *Attempt) Clone() fwk.StateData { return a }

// Of returns the attempt that a cycle belongs to, or nil if it is not recorded.
func Of(state fwk.CycleState) *Attempt {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	attempt, _ := data.(*Attempt)
	return attempt
}

// Now returns the time, by the recorder's clock.
func (a *Attempt) Now() time.Time { return a.recorder.clock.Now() }

// Phase notes that the named extension point began at start and has just ended. It returns the time.
func (a *Attempt) Phase(name string, start time.Time) time.Time {
	now := a.Now()
	a.phases = append(a.phases, trace.Phase{Name: name, Offset: start.Sub(a.start), Duration: now.Sub(start)})
	return now
}

// Hinted notes the node that opportunistic batching proposes, if any.
func (a *Attempt) Hinted(node string) { a.hint = node }

// PreFiltered notes that PreFilter left nodes over for which candidate is true, because of the named plugins.
func (a *Attempt) PreFiltered(left int, candidate func(node string) bool, plugins string) {
	a.candidate = candidate
	a.excluded(max(0, a.Nodes-left), group{plugin: plugins, reasons: []string{"not among the nodes that the pod can go to"}})
}

// PreFilterFailed notes that PreFilter rejected the pod for all nodes, or failed.
func (a *Attempt) PreFilterFailed(status *fwk.Status) {
	a.plugin = status.Plugin()
	if status.IsRejected() {
		a.candidate = func(string) bool { return false }
		a.excluded(a.Nodes, group{plugin: a.plugin, reasons: status.Reasons(), resolvable: status.Code() == fwk.Unschedulable})
	}
}

func (a *Attempt) excluded(nodes int, g group) {
	g.stage, g.nodes = stagePreFilter, nodes
	a.counts.Excluded = nodes
	if nodes > 0 {
		a.groups = append(a.groups, g)
	}
}

// Preempted notes what PostFilter said.
func (a *Attempt) Preempted(node string, status *fwk.Status) {
	a.nominated = node
	if node == "" {
		a.preemptionMessage = status.Message()
	}
}

// Permitted notes which plugins made the pod wait, and for how long at most.
func (a *Attempt) Permitted(waits map[string]time.Duration) {
	for plugin, timeout := range waits {
		a.permit = append(a.permit, trace.PermitWait{Plugin: plugin, Timeout: timeout})
	}
}

// Waited notes how long the pod waited on its node.
func (a *Attempt) Waited(d time.Duration) { a.waited = d }

// Failed notes that an extension point after the choice of a node rejected the pod or failed.
func (a *Attempt) Failed(stage string, status *fwk.Status) {
	a.plugin = status.Plugin()
	a.undo = trace.Undo{Stage: stage, Plugin: status.Plugin(), Reason: status.Message()}
}

// Decision is what came of a scheduling cycle's search for a node.
type Decision struct {
	// Node is the chosen one, or "".
	Node string
	// Feasible is how many nodes passed.
	Feasible int
	// Scores are the scores of all nodes that were scored, in any order; empty if none were.
	Scores []fwk.NodePluginScores
	// Nodes lists all nodes. It is called for pods that want the full matrix.
	Nodes func() []fwk.NodeInfo
}

// Decided notes what the search for a node came to, and sums up the verdicts on the nodes.
func (a *Attempt) Decided(state fwk.CycleState, d Decision) {
	tally := &a.profile.Tally
	all := tally.rejections(a.nominee)
	a.groups = summarise(a.groups, all)
	a.node = d.Node
	a.counts.Total = a.Nodes
	a.counts.Rejected = len(all)
	a.counts.Feasible = d.Feasible
	a.counts.NotEvaluated = max(0, a.Nodes-a.counts.Excluded-a.counts.Rejected-a.counts.Feasible)
	a.found = a.howFound(d)
	a.scored.take(a.profile, state, d)
	if a.profile.wantsMatrix(a.Pod) {
		a.matrix = matrix(d, all, a.candidate)
	}
	tally.clear()
}

// howFound says how the node was found. A nominee that passes is taken without a look at the others; one that does not
// pass is not chosen.
func (a *Attempt) howFound(d Decision) trace.Found {
	switch {
	case d.Node == "":
		return trace.FoundNone
	case len(d.Scores) > 0:
		return trace.FoundScored
	case d.Node != a.nominee:
		return trace.FoundOnlyFeasible
	case a.Pod.Status.NominatedNodeName != "":
		return trace.FoundNominated
	default:
		return trace.FoundHint
	}
}

// Search prepares for filters. It is called after the hint, if any, is known.
func (a *Attempt) Search() {
	a.nominee = a.Pod.Status.NominatedNodeName
	if a.nominee == "" {
		a.nominee = a.hint
	}
}

// reset makes the attempt ready for the pool: empty, with the room that it has.
func (a *Attempt) reset() {
	clear(a.phases)
	clear(a.groups)
	clear(a.permit)
	a.scored.reset()
	*a = Attempt{phases: a.phases[:0], groups: a.groups[:0], permit: a.permit[:0], scored: a.scored}
}
