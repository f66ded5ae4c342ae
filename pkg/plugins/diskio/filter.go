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
	v := pl.views.of(info, s.now)
	for i := range s.targets {
		at := v.diskAt(s.targets[i].path)
		if at < 0 {
			if status := pl.withoutDisk(s, v); status != nil {
				return status
			}
			continue
		}
		if status := pl.fits(s, v, at, info); status != nil {
			return status
		}
	}
	return nil
}

// fits returns nil when a disk has enough left. Targets on one disk are looked at together.
func (pl *DiskIO) fits(s *podState, v *view, at int, info fwk.NodeInfo) *fwk.Status {
	demand, err := pl.demandOn(s, v, at)
	if err != nil {
		pl.metrics.rejected(rejectedByModel)
		kind := v.disks.Disks[at].Kind
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("disk model of %q %q does not apply to the pod: %v", kind.Vendor, kind.Model, err))
	}
	if short := blockio.Fit(demand, pl.free(s, v, at, info)); short != blockio.Enough {
		pl.metrics.short(short)
		return fwk.NewStatus(fwk.Unschedulable, short.Reason()) // other pods may go
	}
	return nil
}

// demandOn returns what all targets on one disk take from it together.
func (pl *DiskIO) demandOn(s *podState, v *view, at int) (sum blockio.Demand, err error) {
	demands := pl.demandsOn(s, v.on(at).kind)
	if len(demands) == 1 {
		return demands[0].demand, demands[0].err
	}
	for i := range demands {
		if v.diskAt(s.targets[i].path) != at {
			continue
		}
		if demands[i].err != nil {
			return blockio.Demand{}, demands[i].err
		}
		sum = sum.Add(demands[i].demand)
	}
	return sum, nil
}

// withoutDisk: only pods that want bandwidth of a disk need one to be known.
func (pl *DiskIO) withoutDisk(s *podState, v *view) *fwk.Status {
	switch {
	case !s.required:
		return nil
	case v == nil:
		pl.metrics.rejected(rejectedUndescribed)
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, blockio.ReasonUnsupported)
	default:
		pl.metrics.rejected(rejectedNoDefault)
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reasonNoDefault)
	}
}

// free returns what one of the node's disks has left.
func (pl *DiskIO) free(s *podState, v *view, at int, info fwk.NodeInfo) blockio.Supply {
	free := v.on(at).free
	if within := pl.args.FillDuration.Duration; within > 0 && at == v.byDefault {
		free = free.Less(pl.fill(info.Node().Name, s.now, within))
	}
	return free
}

// fill is what pods that fetch data will write to the node's default disk, where caches are: the bytes spread over the
// time for which they count.
func (pl *DiskIO) fill(node string, now time.Time, within time.Duration) (demand blockio.Demand) {
	rate := blockio.BytesPerSecond(float64(pl.fills.On(node, now, within)) / within.Seconds())
	demand.Bandwidth = blockio.Bandwidth{Write: rate, Total: rate}
	return demand
}
