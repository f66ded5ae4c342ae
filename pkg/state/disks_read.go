package state

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// readNode turns a node's objects into plain values, and counts the quantities that make no sense, which count as 0.
// stats may be nil.
func readNode(devices *diskiov1alpha1.NodeDiskDevice, stats *diskiov1alpha1.NodeDiskIOStats) (*blockio.Node, int) {
	node, faults := &blockio.Node{Default: -1}, 0
	for id, device := range devices.Spec.Devices {
		disk := blockio.Disk{ID: id, Kind: blockio.Kind{Vendor: device.Vendor, Model: device.Model}}
		disk.Mounts = device.MountPoints
		disk.Capacity = readSupply(&device.Capacity, &faults)
		node.Disks = append(node.Disks, disk)
	}
	slices.SortFunc(node.Disks, func(a, b blockio.Disk) int { return cmp.Compare(a.ID, b.ID) })
	for i := range node.Disks {
		if devices.Spec.Devices[node.Disks[i].ID].Type == diskiov1alpha1.DiskDeviceTypeEmptyDir {
			node.Default = i
			break
		}
	}
	if stats != nil && current(stats) {
		addReport(node, stats, &faults)
	}
	return node, faults
}

// current: a driver says by observedGeneration which spec its numbers belong to. Numbers of an older spec do not know
// of the pods that were reserved since.
func current(stats *diskiov1alpha1.NodeDiskIOStats) bool {
	return stats.Status.ObservedGeneration != nil && *stats.Status.ObservedGeneration == stats.Generation
}

func addReport(node *blockio.Node, stats *diskiov1alpha1.NodeDiskIOStats, faults *int) {
	node.ObservedAt = observed(stats)
	pods := stats.Status.ObservedPods
	if len(pods) == 0 {
		pods = stats.Spec.ReservedPods
	}
	node.Seen = make(map[string]struct{}, len(pods))
	for _, uid := range pods {
		node.Seen[uid] = struct{}{}
	}
	for i := range node.Disks {
		disk := &node.Disks[i]
		free, ok := stats.Status.AllocableBandwidth[disk.ID]
		if !ok {
			free, ok = stats.Status.AllocatableBandwidth[disk.ID]
		}
		if pressure, told := stats.Status.PressurePartsPerMillion[disk.ID]; told {
			disk.Pressure, disk.HasPressure = float64(min(max(0, pressure), million))/million, true
		}
		if ok {
			disk.Measured, disk.HasMeasured = readSupply(&free, faults), true
		}
	}
}

const million = 1_000_000

func readSupply(b *diskiov1alpha1.IOBandwidth, faults *int) blockio.Supply {
	return blockio.Supply{
		Bandwidth: blockio.Bandwidth{
			Read:  readBandwidth(&b.Read, faults),
			Write: readBandwidth(&b.Write, faults),
			Total: readBandwidth(&b.Total, faults),
		},
		IOPS: blockio.IOPS{
			Read:  blockio.PerSecond(max(0, b.ReadIOPS)),
			Write: blockio.PerSecond(max(0, b.WriteIOPS)),
		},
		HasIOPS: b.ReadIOPS > 0 || b.WriteIOPS > 0,
	}
}

func readBandwidth(q *resource.Quantity, faults *int) blockio.BytesPerSecond {
	if q.Sign() < 0 {
		*faults++
		return 0
	}
	if most := resource.NewQuantity(maxBandwidth, resource.BinarySI); q.Cmp(*most) > 0 {
		*faults++
		return maxBandwidth // Value wraps around silently
	}
	return blockio.BytesPerSecond(q.Value())
}

// maxBandwidth, 1 EiB/s, is more than any disk does, and sums of it stay far below an overflow.
const maxBandwidth = 1 << 60

// dropWild removes the quantities below an object's capacity or bandwidth fields that would take seconds to read, and
// returns how many there were. The schema lets "1e-9999999" through, and a quantity of that form costs time that grows
// with the exponent.
func dropWild(value any) (dropped int) {
	fields, ok := value.(map[string]any)
	if !ok {
		return 0
	}
	for key, field := range fields {
		text, isText := field.(string)
		switch {
		case !isText:
			dropped += dropWild(field)
		case (key == "read" || key == "write" || key == "total") && wild(text):
			delete(fields, key)
			dropped++
		}
	}
	return dropped
}

// wild: longer than any sensible quantity, or with an exponent of more than two digits.
func wild(text string) bool {
	exponent := strings.LastIndexAny(text, "eE")
	return len(text) > 32 || exponent >= 0 && len(text)-exponent > 4
}
