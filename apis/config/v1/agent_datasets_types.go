package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// DatasetsCollector is the name of the collector that counts the bytes of cached datasets.
const DatasetsCollector = "datasets"

// DatasetsConfiguration tells the datasets collector where to count, how fast, and when to report.
type DatasetsConfiguration struct {
	// roots are the folders below which datasets lie, 1 to 32. The same list serves every node: a root that a node
	// does not have is left out there.
	Roots []DatasetRoot `json:"roots,omitempty"`

	// reportThresholdPercent is by how much a dataset's bytes must differ from the reported ones, in percent of the
	// reported ones, to be reported before the next heartbeat, 1 to 100. A dataset that appears or is gone is always
	// reported. No two reports are less than 15 s apart. Default: 5.
	ReportThresholdPercent int32 `json:"reportThresholdPercent,omitempty"`

	// heartbeat is the time after which everything is reported even if little or nothing has changed, "15s" to "1h".
	// It must stay well below the age at which readers stop to trust a report. Default: "1m".
	Heartbeat metav1.Duration `json:"heartbeat,omitzero"`

	// maxFilesPerSecond bounds how many files and folders the collector looks at in a second, all roots together,
	// 1 to 1000000. Default: 20000.
	MaxFilesPerSecond int32 `json:"maxFilesPerSecond,omitempty"`
}

// DatasetRoot is a folder below which datasets lie.
type DatasetRoot struct {
	// path is the folder, absolute and without "." or ".." segments, up to 1024 bytes. It may be a mount point or a
	// symbolic link; what is mounted below it is left out. Required, and not below the path of another root.
	Path string `json:"path"`

	// medium is what the folder lies on: Memory, SSD or HDD. Required.
	Medium vicinityv1alpha1.Medium `json:"medium"`

	// layout says which folders below path are datasets; see ParseDatasetLayout. Default: "{namespace}/{dataset}".
	Layout string `json:"layout,omitempty"`
}
