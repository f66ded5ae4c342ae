package blockio

import (
	"strings"
	"time"
)

// Kind is what decides the model of a disk.
type Kind struct {
	Vendor, Model string
}

// Disk is one disk of a node.
type Disk struct {
	// ID is unique on the node.
	ID   string
	Kind Kind
	// Mounts are the absolute paths at which file systems of the disk are mounted.
	Mounts []string
	// Capacity is what the idle disk can do.
	Capacity Supply
	// Measured is what the last report says is free; it counts only when HasMeasured.
	Measured    Supply
	HasMeasured bool
	// Pressure is that of the last report; it counts only when HasPressure.
	Pressure    float64
	HasPressure bool
}

// Node is what is known of a node's disks. It is immutable.
type Node struct {
	// Disks are ordered by ID.
	Disks []Disk
	// Default is the index of the disk that images, container layers and emptyDir volumes are on, -1 when none is
	// marked. Of several the first by ID counts.
	Default int
	// ObservedAt is when the disks were measured. The zero time means that the report does not tell and does not
	// become stale.
	ObservedAt time.Time
	// Seen holds the UIDs of the pods whose use is contained in what was measured.
	Seen map[string]struct{}
}

// Device returns a disk as it stands at now, when reports are believed for maxAge.
func (n *Node) Device(disk *Disk, now time.Time, maxAge time.Duration) Device {
	device := Device{Capacity: disk.Capacity, Report: Report{
		Free: disk.Measured, Pressure: disk.Pressure, HasPressure: disk.HasPressure,
	}}
	switch {
	case !disk.HasMeasured:
	case n.ObservedAt.IsZero():
		device.Report.State = FreshReport
	default:
		device.Report.State = ReportStateAt(n.ObservedAt, now, maxAge)
	}
	return device
}

// ReportAt returns the best state among the reports on the disks, see [Node.Device].
func (n *Node) ReportAt(now time.Time, maxAge time.Duration) ReportState {
	best := NoReport
	for i := range n.Disks {
		device := n.Device(&n.Disks[i], now, maxAge)
		best = max(best, device.Report.State)
	}
	return best
}

// DefaultDisk returns the default disk, or nil.
func (n *Node) DefaultDisk() *Disk {
	if i := n.DiskAt(""); i >= 0 {
		return &n.Disks[i]
	}
	return nil
}

// DiskAt returns the index of the disk that a path is on: the one with the longest mount point at or above the path, or
// the default disk when there is none or the path is "". It is -1 when that is not known either. It does not allocate.
func (n *Node) DiskAt(path string) int {
	if n == nil {
		return -1
	}
	best, longest := n.Default, 0
	if best >= len(n.Disks) {
		best = -1
	}
	if path == "" {
		return best
	}
	for i := range n.Disks {
		for _, mount := range n.Disks[i].Mounts {
			if len(mount) > longest && below(path, mount) {
				best, longest = i, len(mount)
			}
		}
	}
	return best
}

// below reports that path is mount or lies below it.
func below(path, mount string) bool {
	rest, ok := strings.CutPrefix(path, mount)
	return ok && mount != "" && (rest == "" || rest[0] == '/' || mount[len(mount)-1] == '/')
}
