package mlpscore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
)

// scoreKey is where PreScore leaves what Score and Reserve need.
const scoreKey = fwk.StateKey("PreScore" + Name)

// podState is written once, by PreScore or by the first Score without it, and read only from then on.
type podState struct {
	pod   feature.Pod
	model *feature.Model
	// fallback says that the network cannot score the pod's nodes.
	fallback bool
	// scores are a server's, by node; nil when none is asked.
	scores map[string]int64
	// winner is the node that the network would choose; only in mode Shadow.
	winner string
}

// Clone returns the receiver: nothing changes it after PreScore.
func (s *podState) Clone() fwk.StateData { return s }

// PreScore evaluates the network for all nodes, or asks the server.
func (pl *MLPScore) PreScore(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if pl.args.Mode == configv1.MLPScoreOff {
		return fwk.NewStatus(fwk.Skip)
	}
	s := pl.newState(ctx, pod)
	if pl.server != nil {
		scores, err := pl.server.ask(ctx, pod, nodes)
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Scoring by the fallback", "pod", klog.KObj(pod), "cause", err.Error())
			pl.metrics.fallback(causeServer)
		}
		s.scores, s.fallback = scores, err != nil
	} else {
		start := pl.clock.Now()
		if !pl.outputs.prepare(s.model, &s.pod, nodes, pl.clock, pl.args.Deadline.Duration) {
			s.fallback = true
			pl.metrics.fallback(causeDeadline)
		}
		pl.metrics.took(pl.clock.Since(start))
	}
	if pl.args.Mode == configv1.MLPScoreShadow {
		s.winner = pl.winner(s, nodes)
	}
	state.Write(scoreKey, s)
	if pl.args.Mode == configv1.MLPScoreShadow {
		return fwk.NewStatus(fwk.Skip)
	}
	state.Write(explainKey, &explainer{podState: s, pl: pl})
	return nil
}

func (pl *MLPScore) newState(ctx context.Context, pod *corev1.Pod) *podState {
	p, err := podOf(pod)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Demand for GPUs cannot be read and is not scored", "pod", klog.KObj(pod), "cause", err.Error())
		pl.metrics.malformed.Inc()
	}
	return &podState{pod: p, model: pl.models.Current()}
}

// Score is the network's output in hundredths, which NormalizeScore brings into range.
func (pl *MLPScore) Score(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(scoreKey)
	if err != nil {
		// PreScore is not enabled. The framework calls Score for many nodes at a time, and each finds no state: what one
		// of them makes is not worth sharing.
		if pl.args.Mode != configv1.MLPScoreActive {
			return 0, nil
		}
		return pl.score(pl.newState(ctx, pod), info), nil
	}
	s, ok := data.(*podState)
	if !ok {
		return 0, fwk.AsStatus(fmt.Errorf("%s: want %T in the cycle's state, got %T", scoreKey, s, data))
	}
	return pl.score(s, info), nil
}

func (pl *MLPScore) score(s *podState, info fwk.NodeInfo) int64 {
	if s.scores != nil {
		return s.scores[info.Node().Name]
	}
	if !s.fallback {
		score, ok := pl.outputs.one(s.model, &s.pod, info)
		if ok {
			return int64(score)
		}
		pl.metrics.fallback(causeNoNumber)
	}
	if pl.args.Fallback == configv1.MLPScoreFallbackNeutral {
		return 0
	}
	return int64(pl.outputs.fallback(s.model, &s.pod, info))
}

// ScoreExtensions returns the plugin, which normalises.
func (pl *MLPScore) ScoreExtensions() fwk.ScoreExtensions { return pl }
