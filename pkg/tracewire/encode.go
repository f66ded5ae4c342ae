package tracewire

import (
	"strings"
	"time"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// FromRecord returns the message of a record. Slices of numbers are shared with the record.
func FromRecord(r *trace.Record) *tracev1.Record {
	return &tracev1.Record{
		Version:              int32(r.Version),
		Session:              valid(r.Session),
		Sequence:             r.Sequence,
		Kind:                 valid(string(r.Kind)),
		Scheduler:            valid(r.Scheduler),
		Profile:              valid(r.Profile),
		Pod:                  fromPod(&r.Pod),
		Attempt:              int32(r.Attempt),
		Cycle:                r.Cycle,
		Tentative:            r.Tentative,
		Imported:             r.Imported,
		StartUnixNano:        nanos(r.Start),
		EndUnixNano:          nanos(r.End),
		QueuedUnixNano:       nanos(r.Queued),
		FirstAttemptUnixNano: nanos(r.FirstAttempt),
		QueueWaitNanos:       int64(r.QueueWait),
		Phases:               each(r.Phases, fromPhase),
		Outcome:              valid(string(r.Outcome)),
		Node:                 valid(r.Node),
		Found:                valid(string(r.Found)),
		Plugin:               valid(r.Plugin),
		Message:              valid(r.Message),
		Nodes: &tracev1.NodeCounts{
			Total: int32(r.Nodes.Total), Excluded: int32(r.Nodes.Excluded), Rejected: int32(r.Nodes.Rejected),
			Feasible: int32(r.Nodes.Feasible), NotEvaluated: int32(r.Nodes.NotEvaluated),
		},
		Rejections: each(r.Rejections, fromRejection),
		Scores:     fromScores(r.Scores),
		Matrix:     each(r.Matrix, fromVerdict),
		Preemption: fromPreemption(r.Preemption),
		Permit:     fromPermit(r.Permit),
		Undo:       fromUndo(r.Undo),
		Truncated:  r.Truncated,
	}
}

func fromPod(p *trace.Pod) *tracev1.Pod {
	pod := &tracev1.Pod{
		Namespace: valid(p.Namespace), Name: valid(p.Name), Uid: valid(p.UID), Group: valid(p.Group), Priority: p.Priority,
	}
	if p.Owner != nil {
		pod.Owner = &tracev1.Owner{Kind: valid(p.Owner.Kind), Name: valid(p.Owner.Name), Uid: valid(p.Owner.UID)}
	}
	if len(p.Labels) > 0 {
		pod.Labels = make(map[string]string, len(p.Labels))
		for k, v := range p.Labels {
			pod.Labels[valid(k)] = valid(v)
		}
	}
	return pod
}

func fromPhase(p *trace.Phase) *tracev1.Phase {
	return &tracev1.Phase{Name: valid(p.Name), OffsetNanos: int64(p.Offset), DurationNanos: int64(p.Duration)}
}

func fromRejection(r *trace.Rejection) *tracev1.Rejection {
	return &tracev1.Rejection{
		Plugin: valid(r.Plugin), Reason: valid(r.Reason), Stage: valid(r.Stage), Resolvable: r.Resolvable,
		Nodes: int32(r.Nodes), Sample: validEach(r.Sample),
	}
}

func fromScores(s *trace.Scores) *tracev1.Scores {
	if s == nil {
		return nil
	}
	return &tracev1.Scores{
		Plugins: each(s.Plugins, func(p *trace.ScorePlugin) *tracev1.ScorePlugin {
			return &tracev1.ScorePlugin{Name: valid(p.Name), Weight: p.Weight}
		}),
		Top:      each(s.Top, fromNodeScore),
		RunnerUp: valid(s.RunnerUp),
		Margin:   s.Margin,
	}
}

func fromNodeScore(n *trace.NodeScore) *tracev1.NodeScore {
	return &tracev1.NodeScore{
		Node: valid(n.Node), Total: n.Total, Raw: n.Raw, Normalised: n.Normalised, Weighted: n.Weighted,
		Terms: each(n.Terms, func(t *trace.PluginTerms) *tracev1.PluginTerms {
			return &tracev1.PluginTerms{Plugin: valid(t.Plugin), Terms: each(t.Terms, fromTerm)}
		}),
	}
}

func fromTerm(t *trace.Term) *tracev1.Term {
	return &tracev1.Term{Name: valid(t.Name), Value: t.Value, Unit: valid(t.Unit), Text: valid(t.Text)}
}

func fromVerdict(v *trace.NodeVerdict) *tracev1.NodeVerdict {
	return &tracev1.NodeVerdict{
		Node: valid(v.Node), Verdict: valid(string(v.Verdict)), Plugin: valid(v.Plugin), Reason: valid(v.Reason),
		Total: v.Total, Raw: v.Raw, Weighted: v.Weighted,
	}
}

func fromPreemption(p *trace.Preemption) *tracev1.Preemption {
	if p == nil {
		return nil
	}
	return &tracev1.Preemption{
		NominatedNode: valid(p.NominatedNode), Message: valid(p.Message), Victims: each(p.Victims, fromVictim),
	}
}

func fromVictim(v *trace.Victim) *tracev1.Victim {
	return &tracev1.Victim{
		Namespace: valid(v.Namespace), Name: valid(v.Name), Uid: valid(v.UID), Node: valid(v.Node), Priority: v.Priority,
		TimeUnixNano: nanos(v.Time),
	}
}

func fromPermit(p *trace.Permit) *tracev1.Permit {
	if p == nil {
		return nil
	}
	return &tracev1.Permit{
		WaitedNanos: int64(p.Waited),
		Waits: each(p.Waits, func(w *trace.PermitWait) *tracev1.PermitWait {
			return &tracev1.PermitWait{Plugin: valid(w.Plugin), TimeoutNanos: int64(w.Timeout)}
		}),
	}
}

func fromUndo(u *trace.Undo) *tracev1.Undo {
	if u == nil {
		return nil
	}
	return &tracev1.Undo{Stage: valid(u.Stage), Plugin: valid(u.Plugin), Reason: valid(u.Reason)}
}

// each converts a slice; an empty one becomes nil, as it is after decoding.
func each[From, To any](from []From, convert func(*From) To) []To {
	if len(from) == 0 {
		return nil
	}
	to := make([]To, len(from))
	for i := range from {
		to[i] = convert(&from[i])
	}
	return to
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validEach(from []string) []string {
	return each(from, func(s *string) string { return valid(*s) })
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
