package tracewire

import (
	"time"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// ToRecord returns the record of a message. It takes whatever a stranger sent: [trace.Record.Validate] judges the result.
func ToRecord(m *tracev1.Record) trace.Record {
	return trace.Record{
		Version:      int(m.GetVersion()),
		Session:      m.GetSession(),
		Sequence:     m.GetSequence(),
		Kind:         trace.Kind(m.GetKind()),
		Scheduler:    m.GetScheduler(),
		Profile:      m.GetProfile(),
		Pod:          toPod(m.GetPod()),
		Attempt:      int(m.GetAttempt()),
		Cycle:        m.GetCycle(),
		Tentative:    m.GetTentative(),
		Imported:     m.GetImported(),
		Start:        instant(m.GetStartUnixNano()),
		End:          instant(m.GetEndUnixNano()),
		Queued:       instant(m.GetQueuedUnixNano()),
		FirstAttempt: instant(m.GetFirstAttemptUnixNano()),
		QueueWait:    time.Duration(m.GetQueueWaitNanos()),
		Phases:       each(m.GetPhases(), toPhase),
		Outcome:      trace.Outcome(m.GetOutcome()),
		Node:         m.GetNode(),
		Found:        trace.Found(m.GetFound()),
		Plugin:       m.GetPlugin(),
		Message:      m.GetMessage(),
		Nodes: trace.NodeCounts{
			Total: int(m.GetNodes().GetTotal()), Excluded: int(m.GetNodes().GetExcluded()), Rejected: int(m.GetNodes().GetRejected()),
			Feasible: int(m.GetNodes().GetFeasible()), NotEvaluated: int(m.GetNodes().GetNotEvaluated()),
		},
		Rejections: each(m.GetRejections(), toRejection),
		Scores:     toScores(m.GetScores()),
		Matrix:     each(m.GetMatrix(), toVerdict),
		Preemption: toPreemption(m.GetPreemption()),
		Permit:     toPermit(m.GetPermit()),
		Undo:       toUndo(m.GetUndo()),
		Truncated:  m.GetTruncated(),
	}
}

func toPod(m *tracev1.Pod) trace.Pod {
	pod := trace.Pod{
		Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUid(), Group: m.GetGroup(), Priority: m.GetPriority(),
		Labels: m.GetLabels(),
	}
	if o := m.GetOwner(); o != nil {
		pod.Owner = &trace.Owner{Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUid()}
	}
	return pod
}

func toPhase(m **tracev1.Phase) trace.Phase {
	return trace.Phase{
		Name: (*m).GetName(), Offset: time.Duration((*m).GetOffsetNanos()), Duration: time.Duration((*m).GetDurationNanos()),
	}
}

func toRejection(m **tracev1.Rejection) trace.Rejection {
	return trace.Rejection{
		Plugin: (*m).GetPlugin(), Reason: (*m).GetReason(), Stage: (*m).GetStage(), Resolvable: (*m).GetResolvable(),
		Nodes: int((*m).GetNodes()), Sample: (*m).GetSample(),
	}
}

func toScores(m *tracev1.Scores) *trace.Scores {
	if m == nil {
		return nil
	}
	return &trace.Scores{
		Plugins: each(m.GetPlugins(), func(p **tracev1.ScorePlugin) trace.ScorePlugin {
			return trace.ScorePlugin{Name: (*p).GetName(), Weight: (*p).GetWeight()}
		}),
		Top:      each(m.GetTop(), toNodeScore),
		RunnerUp: m.GetRunnerUp(),
		Margin:   m.GetMargin(),
	}
}

func toNodeScore(m **tracev1.NodeScore) trace.NodeScore {
	return trace.NodeScore{
		Node: (*m).GetNode(), Total: (*m).GetTotal(),
		Raw: (*m).GetRaw(), Normalised: (*m).GetNormalised(), Weighted: (*m).GetWeighted(),
		Terms: each((*m).GetTerms(), func(t **tracev1.PluginTerms) trace.PluginTerms {
			return trace.PluginTerms{Plugin: (*t).GetPlugin(), Terms: each((*t).GetTerms(), toTerm)}
		}),
	}
}

func toTerm(m **tracev1.Term) trace.Term {
	return trace.Term{Name: (*m).GetName(), Value: (*m).GetValue(), Unit: (*m).GetUnit(), Text: (*m).GetText()}
}

func toVerdict(m **tracev1.NodeVerdict) trace.NodeVerdict {
	return trace.NodeVerdict{
		Node: (*m).GetNode(), Verdict: trace.Verdict((*m).GetVerdict()), Plugin: (*m).GetPlugin(), Reason: (*m).GetReason(),
		Total: (*m).GetTotal(), Raw: (*m).GetRaw(), Weighted: (*m).GetWeighted(),
	}
}

func toPreemption(m *tracev1.Preemption) *trace.Preemption {
	if m == nil {
		return nil
	}
	return &trace.Preemption{
		NominatedNode: m.GetNominatedNode(), Message: m.GetMessage(), Victims: each(m.GetVictims(), toVictim),
	}
}

func toVictim(m **tracev1.Victim) trace.Victim {
	return trace.Victim{
		Namespace: (*m).GetNamespace(), Name: (*m).GetName(), UID: (*m).GetUid(), Node: (*m).GetNode(),
		Priority: (*m).GetPriority(), Time: instant((*m).GetTimeUnixNano()),
	}
}

func toPermit(m *tracev1.Permit) *trace.Permit {
	if m == nil {
		return nil
	}
	return &trace.Permit{
		Waited: time.Duration(m.GetWaitedNanos()),
		Waits: each(m.GetWaits(), func(w **tracev1.PermitWait) trace.PermitWait {
			return trace.PermitWait{Plugin: (*w).GetPlugin(), Timeout: time.Duration((*w).GetTimeoutNanos())}
		}),
	}
}

func toUndo(m *tracev1.Undo) *trace.Undo {
	if m == nil {
		return nil
	}
	return &trace.Undo{Stage: m.GetStage(), Plugin: m.GetPlugin(), Reason: m.GetReason()}
}

func instant(unixNano int64) time.Time {
	if unixNano == 0 {
		return time.Time{}
	}
	return time.Unix(0, unixNano).UTC()
}
