package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// DiskStatsCollector is the name of the collector that measures how busy the disks are.
	DiskStatsCollector = "diskstats"
	// DiskProfileCollector is the name of the collector that tells which disks there are and what they can do.
	DiskProfileCollector = "diskprofile"
)

// DiskStatsConfiguration tells the diskstats collector how to average and when to report.
type DiskStatsConfiguration struct {
	// window is over how many rounds of the collector its figures are averaged, 2 to 600. Default: 30.
	Window int32 `json:"window,omitempty"`

	// reportThresholdPercent is by how much what a disk has left must differ from what was reported, in percent of the
	// disk's capacity, to be reported before the next heartbeat, 1 to 100. No two reports are less than 15 s apart.
	// Default: 5.
	ReportThresholdPercent int32 `json:"reportThresholdPercent,omitempty"`

	// heartbeat is the time after which everything is reported even if little or nothing has changed, "15s" to "1h".
	// It must stay well below the age at which readers stop to trust a report. Default: "1m".
	Heartbeat metav1.Duration `json:"heartbeat,omitzero"`
}

// DiskProfileConfiguration tells the diskprofile collector what disks can do.
type DiskProfileConfiguration struct {
	// defaultDiskPath is a folder on the disk that emptyDir volumes, images and container layers are on, absolute. Where
	// the node does not have it, "/" counts. Default: "/var/lib/kubelet".
	DefaultDiskPath string `json:"defaultDiskPath,omitempty"`

	// capacities says what disks can do. The first entry that fits a disk counts, so that an entry for all disks belongs
	// at the end. At most 256.
	Capacities []DiskCapacity `json:"capacities,omitempty"`

	// heartbeat is the time after which everything is reported even if nothing has changed, "15s" to "1h". Default: "10m".
	Heartbeat metav1.Duration `json:"heartbeat,omitzero"`
}

// DiskCapacity is what the disks that it fits can do. A disk fits if it is what device, vendor and model say; one that is
// left out fits all.
type DiskCapacity struct {
	// device is the identifier of a disk or its kernel name, such as "sda".
	Device string `json:"device,omitempty"`

	// vendor is the vendor as the agent reports it, letters in either case.
	Vendor string `json:"vendor,omitempty"`

	// model is the model as the agent reports it, letters in either case.
	Model string `json:"model,omitempty"`

	// read is the bandwidth of reading alone in bytes per second, such as "1000Mi", above 0. Required.
	Read resource.Quantity `json:"read,omitzero"`

	// write is the bandwidth of writing alone in bytes per second, above 0. Required.
	Write resource.Quantity `json:"write,omitzero"`

	// total is the bandwidth of reading and writing at once in bytes per second. Default: read and write together.
	Total resource.Quantity `json:"total,omitzero"`

	// readIOPS is the number of read operations per second. Default: not limited.
	ReadIOPS int64 `json:"readIOPS,omitempty"`

	// writeIOPS is the number of write operations per second. Default: not limited.
	WriteIOPS int64 `json:"writeIOPS,omitempty"`
}
