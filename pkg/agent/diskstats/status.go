package diskstats

import (
	"math"
	"path"

	"k8s.io/apimachinery/pkg/api/resource"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

const (
	partsPerMillion       = 1000000
	microsecondsPerSecond = 1000000
)

// demand is what is taken from a disk: bytes and operations per second.
type demand struct {
	readBytes, writeBytes, readOperations, writeOperations float64
}

// left is a capacity less what is taken from it.
func left(capacity *diskiov1alpha1.IOBandwidth, taken demand) diskiov1alpha1.IOBandwidth {
	return diskiov1alpha1.IOBandwidth{
		Read:      less(&capacity.Read, taken.readBytes),
		Write:     less(&capacity.Write, taken.writeBytes),
		Total:     less(&capacity.Total, taken.readBytes+taken.writeBytes),
		ReadIOPS:  lessOperations(capacity.ReadIOPS, taken.readOperations),
		WriteIOPS: lessOperations(capacity.WriteIOPS, taken.writeOperations),
	}
}

func less(capacity *resource.Quantity, taken float64) resource.Quantity {
	rest := max(0, capacity.Value()-whole(taken))
	return *resource.NewQuantity(rest, resource.BinarySI)
}

// lessOperations leaves 0 alone, which says that the number is not known, and never says that of one that is.
func lessOperations(capacity int64, taken float64) int64 {
	if capacity <= 0 {
		return 0
	}
	return max(1, capacity-whole(taken))
}

// whole rounds a rate, which is never negative.
func whole(rate float64) int64 {
	if rate >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(rate))
}

// usageOf finds what is used of a described disk. Without a name it is not one of this machine.
func usageOf(device *diskiov1alpha1.DiskDevice, used map[string]usage) (usage, bool) {
	u, ok := used[path.Base(device.Name)]
	return u, ok
}

// demands is what is taken from each described disk, by identifier. A disk that the kernel does not know by its name is
// left out.
func demands(devices map[string]diskiov1alpha1.DiskDevice, used map[string]usage) map[string]demand {
	found := map[string]demand{}
	for id, device := range devices {
		if u, ok := usageOf(&device, used); ok {
			found[id] = demand{u.read.bytes, u.write.bytes, u.read.operations, u.write.operations}
		}
	}
	return found
}

// measured is the use of each described disk in the form of a report.
func measured(devices map[string]diskiov1alpha1.DiskDevice, used map[string]usage) map[string]diskiov1alpha1.DiskUsage {
	found := map[string]diskiov1alpha1.DiskUsage{}
	for id, device := range devices {
		u, ok := usageOf(&device, used)
		if !ok {
			continue
		}
		found[id] = diskiov1alpha1.DiskUsage{
			ReadBytesPerSecond: whole(u.read.bytes), WriteBytesPerSecond: whole(u.write.bytes),
			ReadIOPS: whole(u.read.operations), WriteIOPS: whole(u.write.operations),
			ReadLatencyMicroseconds:  whole(u.read.wait * microsecondsPerSecond),
			WriteLatencyMicroseconds: whole(u.write.wait * microsecondsPerSecond),
			BusyPartsPerMillion:      whole(u.busy * partsPerMillion),
		}
	}
	return found
}

// simulated is the use of disks that are given, by name as the kernel would tell it.
func simulated(devices map[string]diskiov1alpha1.DiskDevice, used map[string]diskiov1alpha1.IOBandwidth) map[string]usage {
	found := map[string]usage{}
	for id, device := range devices {
		u := used[id]
		found[path.Base(device.Name)] = usage{
			read:  flow{bytes: float64(max(0, u.Read.Value())), operations: float64(max(0, u.ReadIOPS))},
			write: flow{bytes: float64(max(0, u.Write.Value())), operations: float64(max(0, u.WriteIOPS))},
		}
	}
	return found
}

// allocable is what is left of each disk of which the use is known.
func allocable(devices map[string]diskiov1alpha1.DiskDevice, taken map[string]demand) map[string]diskiov1alpha1.IOBandwidth {
	found := make(map[string]diskiov1alpha1.IOBandwidth, len(taken))
	for id, demand := range taken {
		capacity := devices[id].Capacity
		found[id] = left(&capacity, demand)
	}
	return found
}

// pressures is the pressure of each disk of which the use is known.
func pressures(devices map[string]diskiov1alpha1.DiskDevice, used map[string]usage, some float64) map[string]int64 {
	found := map[string]int64{}
	for id, device := range devices {
		if u, ok := usageOf(&device, used); ok {
			found[id] = int64(math.Round(min(some, u.busy, 1) * partsPerMillion))
		}
	}
	return found
}

// changed tells whether a disk has appeared, is gone, or has left what differs by at least so many percent of its capacity.
func changed(reported, current map[string]diskiov1alpha1.IOBandwidth, devices map[string]diskiov1alpha1.DiskDevice, percent int32) bool {
	if len(reported) != len(current) {
		return true
	}
	for id := range current {
		last, ok := reported[id]
		if !ok {
			return true
		}
		now, capacity := current[id], devices[id].Capacity
		if differs(last.Read.Value(), now.Read.Value(), capacity.Read.Value(), percent) ||
			differs(last.Write.Value(), now.Write.Value(), capacity.Write.Value(), percent) ||
			differs(last.Total.Value(), now.Total.Value(), capacity.Total.Value(), percent) ||
			differs(last.ReadIOPS, now.ReadIOPS, capacity.ReadIOPS, percent) ||
			differs(last.WriteIOPS, now.WriteIOPS, capacity.WriteIOPS, percent) {
			return true
		}
	}
	return false
}

func differs(last, now, capacity int64, percent int32) bool {
	return last != now && math.Abs(float64(last)-float64(now)) >= float64(capacity)*float64(percent)/100
}
