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
	// defaultDiskPath is a folder on the disk that emptyDir volumes, images and container layers are on, absolute. Of a
	// folder that is not there, the one above it counts. Default: "/var/lib/kubelet".
	DefaultDiskPath string `json:"defaultDiskPath,omitempty"`

	// capacities says what disks can do. The first entry that fits a disk counts, so that an entry for all disks belongs
	// at the end. At most 256.
	Capacities []DiskCapacity `json:"capacities,omitempty"`

	// fio has the agent find out what disks can do of which nobody says it. Off unless it names folders.
	Fio FioConfiguration `json:"fio,omitzero"`

	// heartbeat is the time after which everything is reported even if nothing has changed, "15s" to "1h". Default: "10m".
	Heartbeat metav1.Duration `json:"heartbeat,omitzero"`
}

// FioConfiguration tells the agent how to measure disks with the program fio, one after the other.
type FioConfiguration struct {
	// folders are where the agent makes a file to read from and write to, absolute, at most 64. Each says with that which
	// disk is to be measured: the one that it is on. It must exist and the agent must be able to write to it.
	Folders []string `json:"folders,omitempty"`

	// program is the name or the path of fio. Default: "fio".
	Program string `json:"program,omitempty"`

	// cacheFile keeps what was measured, so that it is not measured again, absolute. Default: "vicinity-disks.json" in the
	// first folder.
	CacheFile string `json:"cacheFile,omitempty"`

	// fileSize is the size of the file, "16Mi" to "64Gi". More than the disk's own memory gives honest figures. No file is
	// made that would leave less than a tenth of the file system free. Default: "1Gi".
	FileSize resource.Quantity `json:"fileSize,omitzero"`

	// stepTime is how long each of the five measurements of a disk takes, "1s" to "1m". Default: "10s".
	StepTime metav1.Duration `json:"stepTime,omitzero"`

	// timeLimit is the time after which the measurements of a disk are broken off, "10s" to "1h". What is there is kept, and
	// the rest is measured later. Default: "5m".
	TimeLimit metav1.Duration `json:"timeLimit,omitzero"`

	// maxBusyPercent is the share of time in which a disk may be busy for a measurement to begin, 1 to 100. Default: 10.
	MaxBusyPercent int32 `json:"maxBusyPercent,omitempty"`
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
