package diskio

import (
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// explainKey is where PreScore leaves what explains scores to whoever records them.
const explainKey = fwk.StateKey(trace.ExplainKeyPrefix + Name)

// explainer says how a node came to its score. It looks at the node again: what it was worked out from stays as it is
// until the scheduling cycle ends, which is when it is asked.
type explainer struct {
	*podState
	pl *DiskIO
}

var _ trace.Explainer = (*explainer)(nil)

// Clone returns the receiver: nothing changes it.
func (e *explainer) Clone() fwk.StateData { return e }

// Explain returns a term for each disk that the pod uses: its score, and what the pod takes of what it has left.
func (e *explainer) Explain(nodeName string) []trace.Term {
	info, err := e.pl.handle.SnapshotSharedLister().NodeInfos().Get(nodeName)
	if err != nil {
		return nil
	}
	v := e.pl.views.of(info, e.now)
	var out []trace.Term
	for i := range e.targets {
		at := v.diskAt(e.targets[i].path)
		if at < 0 || counted(e.podState, i, at, v) {
			continue
		}
		demand, err := e.pl.demandOn(e.podState, v, at)
		if err != nil {
			continue
		}
		out = append(out, diskTerms(e.pl.scorer.Score(demand, e.pl.free(e.podState, v, at, info), &v.on(at).device), v.disks.Disks[at].ID)...)
	}
	return out
}

// diskTerms leaves out what the score does not depend on.
func diskTerms(terms blockio.Terms, disk string) []trace.Term {
	out := []trace.Term{{Name: disk, Value: float64(terms.Score), Unit: "points"}}
	for _, share := range []struct {
		name  string
		value float64
	}{
		{"read", terms.Read}, {"write", terms.Write}, {"readIOPS", terms.ReadIOPS}, {"writeIOPS", terms.WriteIOPS}, {"pressure", terms.Penalty},
	} {
		if share.value > 0 {
			out = append(out, trace.Term{Name: disk + "." + share.name, Value: share.value, Unit: "share"})
		}
	}
	return out
}
