package trace

import "time"

// SchemaVersion is the version of the form of records that this package writes. It rises when the meaning of a field
// changes or a field goes away; new fields leave it alone.
const SchemaVersion = 1

// Kind says what a record is about.
type Kind string

const (
	// KindAttempt is an attempt to schedule a pod, written once, when the attempt has ended.
	KindAttempt Kind = "Attempt"
	// KindVictims adds pods that were preempted to an attempt that was written before: preemption goes on in the
	// background after the attempt has ended. It has the pod and number of that attempt, and of the rest Preemption only.
	KindVictims Kind = "Victims"
)

// Outcome says how an attempt ended.
type Outcome string

const (
	// OutcomeBound means that the pod is bound to Record.Node.
	OutcomeBound Outcome = "Bound"
	// OutcomeUnschedulable means that no node, or a plugin after a node had been chosen, took the pod.
	OutcomeUnschedulable Outcome = "Unschedulable"
	// OutcomeError means that something failed that says nothing about whether the pod fits.
	OutcomeError Outcome = "Error"
	// OutcomeFits means that a node was found and reserved for trial only: see Record.Tentative.
	OutcomeFits Outcome = "Fits"
)

// Found says how the node of an attempt was found.
type Found string

const (
	// FoundNone means that no node was found.
	FoundNone Found = ""
	// FoundScored means that the node had the highest score of several.
	FoundScored Found = "Scored"
	// FoundOnlyFeasible means that the node was the only one that passed the filters, so nothing was scored.
	FoundOnlyFeasible Found = "OnlyFeasible"
	// FoundNominated means that the pod was nominated for the node before, after a preemption for example, that the node
	// still passed, and that no other was looked at.
	FoundNominated Found = "Nominated"
	// FoundHint means that the node was the next best one of an equal pod's attempt just before (opportunistic batching,
	// KEP-5598), that it passed, and that no other was looked at.
	FoundHint Found = "BatchHint"
)

// Record is an attempt to schedule a pod. Zero values of fields mean "none", unless said otherwise.
type Record struct {
	// Version is the SchemaVersion of the writer.
	Version int `json:"version"`
	// Session names one life of the process that writes: it differs after each restart.
	Session string `json:"session"`
	// Sequence numbers the records of a session from 1. A number that is missing is a record that was dropped.
	Sequence uint64 `json:"seq"`
	// Kind is never empty.
	Kind Kind `json:"kind"`
	// Scheduler is the identity of the process, a host's name for example; Profile is the scheduler's name in pods.
	Scheduler string `json:"scheduler,omitempty"`
	Profile   string `json:"profile,omitempty"`

	Pod Pod `json:"pod"`
	// Attempt counts the attempts of the pod from 1, as the scheduler's queue does.
	Attempt int `json:"attempt"`
	// Cycle is the number of the scheduling cycle in the process. Cycles of one pod group share it.
	Cycle int64 `json:"cycle,omitempty"`
	// Tentative marks a trial of a pod group's cycle: a node that was found may be given back without any fault.
	Tentative bool `json:"tentative,omitempty"`
	// Imported marks a record that was made from another system's log: see its reader for what is missing.
	Imported bool `json:"imported,omitempty"`

	// Start is when the attempt began, End when it ended, by the scheduler's clock.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Queued is when the pod was last put into the queue, FirstAttempt when its first attempt began.
	Queued       time.Time `json:"queued,omitzero"`
	FirstAttempt time.Time `json:"firstAttempt,omitzero"`
	// QueueWait is how long the pod was in the queue before this attempt.
	QueueWait time.Duration `json:"queueWaitNs,omitempty"`
	// Phases are the parts of the attempt in the order in which they began.
	Phases []Phase `json:"phases,omitempty"`

	Outcome Outcome `json:"outcome,omitempty"`
	// Node is the node that the pod was bound to or was reserved on, also where that was undone.
	Node  string `json:"node,omitempty"`
	Found Found  `json:"found,omitempty"`
	// Plugin is the plugin that ended the attempt, where one did. Message is the scheduler's own text on the outcome.
	Plugin  string `json:"plugin,omitempty"`
	Message string `json:"message,omitempty"`

	Nodes NodeCounts `json:"nodes"`
	// Rejections say why nodes were left out, most nodes first.
	Rejections []Rejection `json:"rejections,omitempty"`
	Scores     *Scores     `json:"scores,omitempty"`
	// Matrix has the verdict on every node. Only records of pods that ask for it have one.
	Matrix []NodeVerdict `json:"matrix,omitempty"`

	Preemption *Preemption `json:"preemption,omitempty"`
	Permit     *Permit     `json:"permit,omitempty"`
	// Undo says why a node that had been reserved was given back.
	Undo *Undo `json:"undo,omitempty"`
	// Truncated says that something was left out so that the record stays small.
	Truncated bool `json:"truncated,omitempty"`
}

// Pod is the pod of a record.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Owner is the pod's controller.
	Owner *Owner `json:"owner,omitempty"`
	// Group is the name of the pod's group in the same namespace.
	Group    string `json:"group,omitempty"`
	Priority int32  `json:"priority,omitempty"`
	// Labels are those that the recorder was told to keep.
	Labels map[string]string `json:"labels,omitempty"`
}

// Owner is the controller of a pod.
type Owner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

// Phase is a part of an attempt: an extension point of the scheduling framework, by its name there.
type Phase struct {
	Name string `json:"name"`
	// Offset is when it began, after Record.Start.
	Offset   time.Duration `json:"offsetNs"`
	Duration time.Duration `json:"durationNs"`
}

// NodeCounts say how many nodes the attempt looked at. Total = Excluded + Rejected + Feasible + NotEvaluated.
type NodeCounts struct {
	Total int `json:"total"`
	// Excluded were ruled out for the pod as a whole before any node was looked at (PreFilter).
	Excluded int `json:"excluded,omitempty"`
	// Rejected were looked at, and rejected by a filter.
	Rejected int `json:"rejected,omitempty"`
	Feasible int `json:"feasible,omitempty"`
	// NotEvaluated were not looked at: enough others had been found, or one was tried first and taken.
	NotEvaluated int `json:"notEvaluated,omitempty"`
}

// Rejection is one reason for which nodes were left out. Filters stop at a node's first rejection, so a node is counted
// once, and nothing is said about filters that come after.
type Rejection struct {
	// Plugin is the first plugin that rejected; empty where the scheduler does not say.
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason"`
	// Stage is "PreFilter" where the pod was rejected for all nodes at once, "Filter" where nodes were looked at.
	Stage string `json:"stage"`
	// Resolvable says whether preemption may help.
	Resolvable bool `json:"resolvable,omitempty"`
	Nodes      int  `json:"nodes"`
	// Sample names some of the nodes.
	Sample []string `json:"sample,omitempty"`
}

// Scores are the scores of the best nodes.
type Scores struct {
	// Plugins are the columns of Raw, Normalised and Weighted.
	Plugins []ScorePlugin `json:"plugins"`
	// Top are the nodes with the highest totals, best first. The chosen node is always there.
	Top []NodeScore `json:"top"`
	// RunnerUp is the best node beside the chosen one. Margin is by how much the chosen one is ahead of it; 0 means that
	// the choice between them was random, less that an extender turned it.
	RunnerUp string `json:"runnerUp,omitempty"`
	Margin   int64  `json:"margin,omitempty"`
}

// ScorePlugin is a plugin that scored nodes for this pod.
type ScorePlugin struct {
	Name string `json:"name"`
	// Weight is what its normalised scores are multiplied by.
	Weight int64 `json:"weight"`
}

// NodeScore is what one node was given. Its lists have an entry for each of Scores.Plugins.
type NodeScore struct {
	Node  string `json:"node"`
	Total int64  `json:"total"`
	// Raw is what plugins returned, in units of their own; Normalised is 0 to 100; Weighted adds up to Total, but for
	// what extenders added.
	Raw        []int64 `json:"raw"`
	Normalised []int64 `json:"normalised"`
	Weighted   []int64 `json:"weighted"`
	// Terms explain the scores of plugins that can say how they came to them.
	Terms []PluginTerms `json:"terms,omitempty"`
}

// PluginTerms are the terms of one plugin's score of one node.
type PluginTerms struct {
	Plugin string `json:"plugin"`
	Terms  []Term `json:"terms"`
}

// Term is one part of a score. Value is a number where there is one; Text says the rest for people.
type Term struct {
	Name  string  `json:"name"`
	Value float64 `json:"value,omitempty"`
	// Unit is the unit of Value: "bytes", "bytes/s", "share" (0 to 1), "ms", "points".
	Unit string `json:"unit,omitempty"`
	Text string `json:"text,omitempty"`
}

// Explainer is what a plugin leaves in the cycle's state under ExplainKeyPrefix + its name. It is asked after the scores
// are known, for the winner and the other nodes of Scores.Top only.
type Explainer interface {
	// Explain returns the terms of the plugin's score of the node; nil if there is nothing to say. It is called by the
	// goroutine that schedules, at the end of the search, while the cluster is still as it was for Score. It must not block.
	Explain(node string) []Term
}

// ExplainKeyPrefix begins the key of an Explainer in the cycle's state.
const ExplainKeyPrefix = "Explain/"

// Verdict is what became of one node.
type Verdict string

const (
	// VerdictFeasible means that the node passed every filter.
	VerdictFeasible Verdict = "Feasible"
	// VerdictRejected means that a filter rejected the node.
	VerdictRejected Verdict = "Rejected"
	// VerdictExcluded means that the node was ruled out before it was looked at (PreFilter).
	VerdictExcluded Verdict = "Excluded"
	// VerdictNotEvaluated means that nobody looked: nothing is known about the node.
	VerdictNotEvaluated Verdict = "NotEvaluated"
)

// NodeVerdict is a row of the full matrix.
type NodeVerdict struct {
	Node    string  `json:"node"`
	Verdict Verdict `json:"verdict"`
	// Plugin and Reason are of the first rejection.
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Total, Raw and Weighted are as in NodeScore; none for nodes that were not scored.
	Total    int64   `json:"total,omitempty"`
	Raw      []int64 `json:"raw,omitempty"`
	Weighted []int64 `json:"weighted,omitempty"`
}

// Preemption says what the scheduler did to make room.
type Preemption struct {
	// NominatedNode is where room is being made.
	NominatedNode string `json:"nominatedNode,omitempty"`
	// Victims are the pods that had to go, as far as they are known when the record is written.
	Victims []Victim `json:"victims,omitempty"`
	// Message is what preemption said when it did not help.
	Message string `json:"message,omitempty"`
}

// Victim is a pod that was preempted.
type Victim struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node,omitempty"`
	Priority  int32  `json:"priority,omitempty"`
	// Time is when the pod was marked (condition DisruptionTarget).
	Time time.Time `json:"time,omitzero"`
}

// Permit says which plugins made the pod wait on its node, and for how long it did.
type Permit struct {
	Waits []PermitWait `json:"waits"`
	// Waited is how long the pod waited in all.
	Waited time.Duration `json:"waitedNs"`
}

// PermitWait is one plugin's wish to wait.
type PermitWait struct {
	Plugin  string        `json:"plugin"`
	Timeout time.Duration `json:"timeoutNs"`
}

// Undo says why a reservation was undone.
type Undo struct {
	// Stage is the extension point that failed: "Reserve", "Permit", "WaitOnPermit", "PreBind", "Bind"; "Trial" where a
	// pod group's trial was over.
	Stage  string `json:"stage"`
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason,omitempty"`
}
