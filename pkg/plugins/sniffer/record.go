package sniffer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// record returns the attempt as it is written.
func (a *Attempt) record() *trace.Record {
	r := &trace.Record{
		Version: trace.SchemaVersion, Session: a.recorder.identity.Session, Sequence: a.sequence, Kind: a.kind,
		Scheduler: a.recorder.identity.Scheduler, Profile: a.profile.name,
		Pod: trace.Pod{
			Namespace: a.Pod.Namespace, Name: a.Pod.Name, UID: string(a.Pod.UID), Owner: controllerOf(a.Pod), Priority: priority(a.Pod),
			Labels: a.profile.labels(a.Pod),
		},
		Attempt: a.Number, Cycle: a.Cycle, Tentative: a.Tentative,
		Start: a.start.UTC(), End: a.end.UTC(), Queued: a.Queued.UTC(), FirstAttempt: a.FirstAttempt.UTC(),
		Phases: slices.Clone(a.phases), Outcome: a.outcome, Node: a.node, Found: a.found, Plugin: a.plugin, Message: a.message,
		Nodes: a.counts, Scores: a.scored.record(a.profile), Matrix: a.matrix,
	}
	if group := a.Pod.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
		r.Pod.Group = *group.PodGroupName
	}
	if a.kind == trace.KindAttempt && !a.Queued.IsZero() {
		r.QueueWait = max(0, a.start.Sub(a.Queued))
	}
	r.Rejections = a.rejections()
	if r.Message == "" && a.kind == trace.KindAttempt && a.outcome != trace.OutcomeBound && a.outcome != trace.OutcomeFits {
		r.Message = a.summary(r.Rejections)
	}
	if a.nominated != "" || a.preemptionMessage != "" || len(a.victims) > 0 {
		r.Preemption = &trace.Preemption{NominatedNode: a.nominated, Victims: a.victims, Message: a.preemptionMessage}
	}
	if len(a.permit) > 0 || a.waited > 0 {
		r.Permit = &trace.Permit{Waits: slices.Clone(a.permit), Waited: a.waited}
	}
	if a.undo.Stage != "" {
		undo := a.undo
		r.Undo = &undo
	}
	r.Shrink(trace.MaxRecordBytes)
	return r
}

// rejections returns the reasons for which nodes were left out, most nodes first.
func (a *Attempt) rejections() []trace.Rejection {
	if len(a.groups) == 0 {
		return nil
	}
	out := make([]trace.Rejection, len(a.groups))
	for i := range a.groups {
		out[i] = a.groups[i].rejection()
	}
	slices.SortStableFunc(out, func(x, y trace.Rejection) int { return cmp.Compare(y.Nodes, x.Nodes) })
	return out
}

// summary says in one line why no node was found, as kube-scheduler's own text does, without its walk over all nodes.
func (a *Attempt) summary(rejections []trace.Rejection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d nodes are available", a.counts.Feasible, a.counts.Total)
	for i := range rejections {
		b.WriteString([]string{", ", ": "}[min(1, max(0, 1-i))])
		fmt.Fprintf(&b, "%d %s", rejections[i].Nodes, rejections[i].Reason)
	}
	if a.preemptionMessage != "" {
		b.WriteString(". preemption: ")
		b.WriteString(strings.TrimPrefix(a.preemptionMessage, "preemption: "))
	}
	return b.String()
}
