package diskio

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// PreScore skips Score for the pods that PreFilter skipped.
func (pl *DiskIO) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	_, err := stateOf(state)
	if errors.Is(err, fwk.ErrNotFound) {
		return fwk.NewStatus(fwk.Skip)
	}
	return fwk.AsStatus(err)
}

// Score ranks the node's disk, 0 to 100.
func (pl *DiskIO) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	s, err := stateOf(state)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	disks := pl.disks.Disks(info.Node().Name)
	disk := disks.DefaultDisk()
	if disk == nil {
		return blockio.MaxScore, nil
	}
	demand, err := pl.demand(s, disk.Kind)
	if err != nil {
		return 0, nil //nolint:nilerr // Filter rejects such nodes; one whose kind changed since is no good either
	}
	free, device := pl.free(s, info, disks, disk)
	return pl.scorer.Score(demand, free, &device).Score, nil
}

// ScoreExtensions returns nil: the score is absolute and in range.
func (pl *DiskIO) ScoreExtensions() fwk.ScoreExtensions { return nil }
