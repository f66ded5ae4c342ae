package recording

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
)

// Framework is a scheduling profile that is recorded.
type Framework struct {
	framework.Framework

	profile *sniffer.Profile
	current *sniffer.Attempt       // of the scheduling cycle that goes on; nil: it is not recorded
	mark    time.Time              // when the search for nodes began
	scores  []fwk.NodePluginScores // of the cycle that goes on; the scheduler orders and completes them in place
}

func (f *Framework) begin(state fwk.CycleState, b sniffer.Beginning) *sniffer.Attempt {
	if nodes, err := f.SnapshotSharedLister().NodeInfos().List(); err == nil {
		b.Nodes = len(nodes)
	}
	f.scores, f.mark = nil, time.Time{}
	f.current = f.profile.Begin(state, b)
	return f.current
}

func (f *Framework) decided(state fwk.CycleState, result scheduler.ScheduleResult) {
	f.searched()
	f.current.Decided(state, sniffer.Decision{
		Node: result.SuggestedHost, Feasible: result.FeasibleNodes, Scores: f.scores, Nodes: f.nodes,
	})
	f.current, f.scores = nil, nil
}

func (f *Framework) nodes() []fwk.NodeInfo {
	nodes, err := f.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil
	}
	return nodes
}

// searched ends the phase of filters, if one is going on.
func (f *Framework) searched() {
	if !f.mark.IsZero() {
		f.current.Phase("Filter", f.mark)
		f.mark = time.Time{}
	}
}

// RunPreFilterPlugins implements framework.Framework.
func (f *Framework) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod,
) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	a := f.current
	if a == nil {
		return f.Framework.RunPreFilterPlugins(ctx, state, pod)
	}
	start := a.Now()
	result, status, plugins := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	f.mark = a.Phase("PreFilter", start)
	switch {
	case !status.IsSuccess():
		f.mark = time.Time{} // nothing is searched
		a.PreFilterFailed(status)
	case !result.AllNodes():
		left := 0
		for name := range result.NodeNames {
			if _, err := f.SnapshotSharedLister().NodeInfos().Get(name); err == nil {
				left++
			}
		}
		a.PreFiltered(left, result.NodeNames.Has, strings.Join(sets.List(plugins), ", "))
	}
	a.Search()
	return result, status, plugins
}

// GetNodeHint implements framework.Framework.
func (f *Framework) GetNodeHint(ctx context.Context, pod *corev1.Pod, signature fwk.PodSignature, state fwk.CycleState, cycle int64) string {
	hint := f.Framework.GetNodeHint(ctx, pod, signature, state, cycle)
	if f.current != nil && hint != "" {
		f.current.Hinted(hint)
		f.current.Search()
	}
	return hint
}

// RunFilterPluginsWithNominatedPods implements framework.Framework. The scheduler calls it in parallel.
func (f *Framework) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo,
) *fwk.Status {
	status := f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if f.current != nil && status.IsRejected() {
		f.profile.Tally.Reject(node.Node().Name, status)
	}
	return status
}

// RunPostFilterPlugins implements framework.Framework. The search is over then, and the attempt is in the cycle's state.
func (f *Framework) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes fwk.NodeToStatusReader,
) (*fwk.PostFilterResult, *fwk.Status) {
	a := sniffer.Of(state)
	if a == nil {
		return f.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	}
	start := a.Now()
	result, status := f.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	a.Phase("PostFilter", start)
	nominated := ""
	if result != nil && result.NominatingInfo != nil {
		nominated = result.NominatedNodeName
	}
	a.Preempted(nominated, status)
	return result, status
}

// RunPreScorePlugins implements framework.Framework.
func (f *Framework) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	a := f.current
	if a == nil {
		return f.Framework.RunPreScorePlugins(ctx, state, pod, nodes)
	}
	f.searched()
	start := a.Now()
	status := f.Framework.RunPreScorePlugins(ctx, state, pod, nodes)
	a.Phase("PreScore", start)
	return status
}

// RunScorePlugins implements framework.Framework.
func (f *Framework) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) ([]fwk.NodePluginScores, *fwk.Status) {
	a := f.current
	if a == nil {
		return f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	}
	start := a.Now()
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	a.Phase("Score", start)
	f.scores = scores
	return scores, status
}

// RunReservePluginsReserve implements framework.Framework.
func (f *Framework) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	return run(state, "Reserve", func() *fwk.Status { return f.Framework.RunReservePluginsReserve(ctx, state, pod, node) })
}

// RunPermitPlugins implements framework.Framework.
func (f *Framework) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string,
) (map[string]time.Duration, *fwk.Status) {
	a := sniffer.Of(state)
	if a == nil {
		return f.Framework.RunPermitPlugins(ctx, state, pod, node)
	}
	start := a.Now()
	waits, status := f.Framework.RunPermitPlugins(ctx, state, pod, node)
	a.Phase("Permit", start)
	if status.IsWait() {
		a.Permitted(waits)
	} else if !status.IsSuccess() {
		a.Failed("Permit", status)
	}
	return waits, status
}

// WaitOnPermit implements framework.Framework. It is not told the cycle's state.
func (f *Framework) WaitOnPermit(ctx context.Context, pod *corev1.Pod) *fwk.Status {
	a := f.profile.Flying(pod.UID)
	if a == nil || !f.WillWaitOnPermit(ctx, pod) {
		return f.Framework.WaitOnPermit(ctx, pod)
	}
	start := a.Now()
	status := f.Framework.WaitOnPermit(ctx, pod)
	a.Waited(a.Phase("WaitOnPermit", start).Sub(start))
	if !status.IsSuccess() {
		a.Failed("WaitOnPermit", status)
	}
	return status
}

// RunPreBindPlugins implements framework.Framework.
func (f *Framework) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	return run(state, "PreBind", func() *fwk.Status { return f.Framework.RunPreBindPlugins(ctx, state, pod, node) })
}

// RunBindPlugins implements framework.Framework.
func (f *Framework) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	return run(state, "Bind", func() *fwk.Status { return f.Framework.RunBindPlugins(ctx, state, pod, node) })
}

// run calls an extension point that only has a status, and notes when, and that it failed.
func run(state fwk.CycleState, stage string, call func() *fwk.Status) *fwk.Status {
	a := sniffer.Of(state)
	if a == nil {
		return call()
	}
	start := a.Now()
	status := call()
	a.Phase(stage, start)
	if !status.IsSuccess() {
		a.Failed(stage, status)
	}
	return status
}
