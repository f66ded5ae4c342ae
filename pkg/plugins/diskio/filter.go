package diskio

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// reasonNoDefault rejects a node for pods that ask for bandwidth of a disk which nobody marked.
const reasonNoDefault = "node has no disk of type emptyDir, which images and emptyDir volumes are on"

// Filter rejects nodes whose disk has too little left.
func (pl *DiskIO) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	disks := pl.disks.Disks(info.Node().Name)
	disk := disks.DefaultDisk()
	if disk == nil {
		return withoutDisk(s, disks)
	}
	demand, err := pl.demand(s, disk.Kind)
	if err != nil {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("disk model of %q %q does not apply to the pod: %v", disk.Kind.Vendor, disk.Kind.Model, err))
	}
	free, _ := pl.free(s, info, disks, disk)
	if short := blockio.Fit(demand, free); short != blockio.Enough {
		return fwk.NewStatus(fwk.Unschedulable, short.Reason()) // other pods may go
	}
	return nil
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

// free returns what the node's disk has left, and the disk as it stands now.
func (pl *DiskIO) free(s *podState, info fwk.NodeInfo, disks *blockio.Node, disk *blockio.Disk) (blockio.Supply, blockio.Device) {
	device := disks.Device(disk, s.now, pl.args.StaleAfter.Duration)
	used := pl.usage.of(info, disks, disk)
	return device.Free(used.requested, used.unseen), device
}
