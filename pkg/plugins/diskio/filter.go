package diskio

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// reasonNoDefault rejects a node for pods that ask for bandwidth of a disk which nobody marked.
const reasonNoDefault = "node has no disk of type emptyDir, which images and emptyDir volumes are on"

// Filter rejects nodes of which a disk that the pod uses has too little left.
func (pl *DiskIO) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	disks := pl.disks.Disks(info.Node().Name)
	for i := range s.targets {
		if status := pl.fits(s, i, info, disks); status != nil {
			return status
		}
	}
	return nil
}

// fits returns nil when the disk that a target is on has enough left. Targets on one disk are looked at together.
func (pl *DiskIO) fits(s *podState, target int, info fwk.NodeInfo, disks *blockio.Node) *fwk.Status {
	at := disks.DiskAt(s.targets[target].path)
	if at < 0 {
		return withoutDisk(s, disks)
	}
	demand, err := pl.demandOn(s, at, disks)
	if err != nil {
		kind := disks.Disks[at].Kind
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("disk model of %q %q does not apply to the pod: %v", kind.Vendor, kind.Model, err))
	}
	free, _ := pl.free(s, info, disks, at)
	if short := blockio.Fit(demand, free); short != blockio.Enough {
		return fwk.NewStatus(fwk.Unschedulable, short.Reason()) // other pods may go
	}
	return nil
}

// demandOn returns what all targets on one disk take from it together.
func (pl *DiskIO) demandOn(s *podState, at int, disks *blockio.Node) (sum blockio.Demand, err error) {
	if len(s.targets) == 1 {
		return pl.demand(s, 0, disks.Disks[at].Kind)
	}
	for i := range s.targets {
		if disks.DiskAt(s.targets[i].path) != at {
			continue
		}
		demand, err := pl.demand(s, i, disks.Disks[at].Kind)
		if err != nil {
			return blockio.Demand{}, err
		}
		sum = sum.Add(demand)
	}
	return sum, nil
}

// withoutDisk: only pods that want bandwidth of a disk need one to be known.
func withoutDisk(s *podState, disks *blockio.Node) *fwk.Status {
	switch {
	case !s.required:
		return nil
	case disks == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, blockio.ReasonUnsupported)
	default:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reasonNoDefault)
	}
}

// fill is what pods that fetch data will write to the node's default disk, where caches are: the bytes spread over the
// time for which they count.
func (pl *DiskIO) fill(node string, now time.Time) (demand blockio.Demand) {
	if within := pl.args.FillDuration.Duration; within > 0 {
		rate := blockio.BytesPerSecond(float64(pl.fills.On(node, now, within)) / within.Seconds())
		demand.Bandwidth = blockio.Bandwidth{Write: rate, Total: rate}
	}
	return demand
}

// free returns what one of the node's disks has left, and the disk as it stands now.
func (pl *DiskIO) free(s *podState, info fwk.NodeInfo, disks *blockio.Node, at int) (blockio.Supply, blockio.Device) {
	device := disks.Device(&disks.Disks[at], s.now, pl.args.StaleAfter.Duration)
	used := pl.usage.of(info, disks)[at]
	if at == disks.Default {
		fill := pl.fill(info.Node().Name, s.now)
		used.Requested, used.Unseen = used.Requested.Add(fill), used.Unseen.Add(fill)
	}
	return device.Free(used.Requested, used.Unseen), device
}
