package edgedelay

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// cloudKey is where PreScore says that a pod without bounds is to be scored by the cloud role.
const cloudKey = fwk.StateKey("PreScore" + Name)

// cloudState is the value under cloudKey.
type cloudState struct{}

// Clone returns the receiver: it is empty.
func (s cloudState) Clone() fwk.StateData { return s }

// PreScore skips pods without bounds where there is no cloud to prefer.
func (pl *EdgeDelay) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	switch {
	case err == nil && s.cloud:
		return fwk.NewStatus(fwk.Skip) // Filter has left nodes of the cloud only
	case err == nil:
		return nil
	case !notFound(err):
		return fwk.AsStatus(err)
	}
	if pl.args.UnconstrainedPods != configv1.UnconstrainedPreferCloud || !pl.cloud.hasSome(nodes) {
		return fwk.NewStatus(fwk.Skip)
	}
	state.Write(cloudKey, cloudState{})
	return nil
}

// Score is higher the more a node leaves over of the pod's bounds, and the fewer others need it.
func (pl *EdgeDelay) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	s, err := stateOf(state)
	switch {
	case notFound(err):
		if pl.cloud.has(info.Node()) {
			return fwk.MaxScore, nil
		}
		return 0, nil
	case err != nil:
		return 0, fwk.AsStatus(err)
	}
	id, known := s.index.ID(info.Node().Name)
	if !known {
		return 0, nil
	}
	return int64(float64(fwk.MaxScore)*(s.margin(id)+s.demand.of(id))/2 + 0.5), nil
}

// margin is the mean share that the node leaves over of the pod's bounds, 0 to 1.
func (s *podState) margin(id delay.NodeID) float64 {
	if len(s.terms) == 0 {
		return 1
	}
	sum := 0.0
	for _, radius := range s.terms {
		sum += radius.Margin(id)
	}
	return sum / float64(len(s.terms))
}

// demand says for each node which of some sets it is in.
type demand struct {
	// first is, by node, 1 plus the index of the first set that has it; 0: none has.
	first []uint8
	// spared is, by that, 1 for nodes that no other pod needs more than this one, and the nearer to 0 the fewer nodes the
	// others can choose from, compared with this pod.
	spared [maxScarce + 1]float64
}

// newDemand takes sets, smallest first, at most maxScarce, and the size of the pod's own.
func newDemand(scarce []*delay.Radius, size int) *demand {
	if len(scarce) == 0 {
		return nil
	}
	d := &demand{spared: [maxScarce + 1]float64{0: 1}}
	for i, radius := range slices.Backward(scarce) { // so that the smallest stays
		d.first = radius.Nodes.Mark(d.first, uint8(i+1))
		d.spared[i+1] = float64(radius.Size) / float64(size)
	}
	return d
}

// of returns how much of a node others leave to the pod, 0 to 1.
func (d *demand) of(id delay.NodeID) float64 {
	if d == nil || int(id) >= len(d.first) {
		return 1
	}
	return d.spared[d.first[id]]
}

// ScoreExtensions returns nil: the score is absolute and in range.
func (pl *EdgeDelay) ScoreExtensions() fwk.ScoreExtensions { return nil }
