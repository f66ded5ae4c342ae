package diskio

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// PreScore skips Score for the pods that PreFilter skipped.
func (pl *DiskIO) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	switch {
	case errors.Is(err, fwk.ErrNotFound):
		return fwk.NewStatus(fwk.Skip)
	case err != nil:
		return fwk.AsStatus(err)
	}
	state.Write(explainKey, &explainer{podState: s, pl: pl})
	return nil
}

// Score is the mean of the scores of the disks that the pod uses, 0 to 100.
func (pl *DiskIO) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	s, err := stateOf(state)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	v := pl.views.of(info, s.now)
	var mean blockio.Mean
	for i := range s.targets {
		at := v.diskAt(s.targets[i].path)
		if at < 0 || counted(s, i, at, v) {
			continue
		}
		demand, err := pl.demandOn(s, v, at)
		if err != nil {
			return 0, nil // Filter rejects such nodes; one whose kind changed since is no good either
		}
		mean.Add(pl.scorer.Score(demand, pl.free(s, v, at, info), &v.on(at).device).Score)
	}
	if score, ok := mean.Score(); ok {
		return score, nil
	}
	return blockio.MaxScore, nil
}

// counted reports that an earlier target is on the same disk.
func counted(s *podState, before, at int, v *view) bool {
	return slices.ContainsFunc(s.targets[:before], func(t target) bool { return v.diskAt(t.path) == at })
}

// ScoreExtensions returns nil: the score is absolute and in range.
func (pl *DiskIO) ScoreExtensions() fwk.ScoreExtensions { return nil }
