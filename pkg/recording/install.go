package recording

import (
	"context"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
)

// Install makes the scheduler's profiles that have plugin Sniffer report to the recorder, and returns how many those are.
// It must be called before the scheduler runs. With none the scheduler is as it was.
func Install(sched *scheduler.Scheduler, recorder *sniffer.Recorder) int {
	installed := 0
	for name, inner := range sched.Profiles {
		if profile := recorder.Profile(name); profile != nil {
			profile.SetColumns(columns(inner))
			sched.Profiles[name] = &Framework{Framework: inner, profile: profile}
			installed++
		}
	}
	if installed == 0 {
		return 0
	}
	h := &hooks{sched: sched, schedulePod: sched.SchedulePod, failed: sched.FailureHandler}
	sched.SchedulePod, sched.FailureHandler = h.SchedulePod, h.Failed
	return installed
}

func columns(f framework.Framework) []sniffer.Column {
	plugins := f.ListPlugins()
	if plugins == nil {
		return nil
	}
	out := make([]sniffer.Column, 0, len(plugins.Score.Enabled))
	for _, plugin := range plugins.Score.Enabled {
		out = append(out, sniffer.NewColumn(plugin.Name, int64(plugin.Weight)))
	}
	return out
}

// hooks stand in front of the scheduler's own functions.
type hooks struct {
	sched       *scheduler.Scheduler
	schedulePod func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (scheduler.ScheduleResult, error)
	failed      scheduler.FailureHandlerFn
}

// SchedulePod searches a node for the pod, as ever, as the beginning of an attempt.
func (h *hooks) SchedulePod(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo,
) (scheduler.ScheduleResult, error) {
	recording, ok := f.(*Framework)
	if !ok {
		return h.schedulePod(ctx, f, state, pod)
	}
	attempt := recording.begin(state, beginning(pod, h.sched.CurrentCycle(), state.IsPodGroupSchedulingCycle()))
	if attempt == nil {
		return h.schedulePod(ctx, f, state, pod)
	}
	result, err := h.schedulePod(ctx, f, state, pod)
	recording.decided(state, result)
	return result, err
}

// Failed ends the attempt before the scheduler queues the pod again, which may begin the next one at once.
func (h *hooks) Failed(ctx context.Context, f framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status,
	nominating *fwk.NominatingInfo, start time.Time,
) {
	if recording, ok := f.(*Framework); ok {
		recording.profile.Fail(beginning(pod, h.sched.CurrentCycle(), false), failure(status, nominating))
	}
	h.failed(ctx, f, pod, status, nominating, start)
}

func beginning(pod *framework.QueuedPodInfo, cycle int64, tentative bool) sniffer.Beginning {
	b := sniffer.Beginning{Pod: pod.Pod, Number: pod.Attempts, Cycle: cycle, Tentative: tentative, Queued: pod.Timestamp}
	if pod.InitialAttemptTimestamp != nil {
		b.FirstAttempt = *pod.InitialAttemptTimestamp
	}
	return b
}

// failure reads how an attempt failed. The text of a FitError is put together from the verdicts on all nodes, once by
// the scheduler; doing that again would cost as much again, and the record has the counts.
func failure(status *fwk.Status, nominating *fwk.NominatingInfo) sniffer.Failure {
	f := sniffer.Failure{Rejected: status.IsRejected()}
	if fit, ok := status.AsError().(*framework.FitError); !ok || fit.Diagnosis.NodeToStatus.Len() <= 1 && fit.NumAllNodes <= 1 { //nolint:errorlint // as the scheduler itself does
		f.Message = status.Message()
	}
	if nominating.Mode() == fwk.ModeOverride {
		f.Nominates, f.Nominated = true, nominating.NominatedNodeName
	}
	return f
}
