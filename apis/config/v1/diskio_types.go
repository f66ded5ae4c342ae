package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DiskIOArgs configures plugin DiskIO, which places pods where disks have bandwidth left.
//
// +kubebuilder:object:root=true
type DiskIOArgs struct {
	metav1.TypeMeta `json:",inline"`

	// scoreStrategy is "LeastAllocated", "MostAllocated" or "RequestedToCapacityRatio". Default: "LeastAllocated".
	ScoreStrategy DiskIOScoreStrategy `json:"scoreStrategy,omitempty"`

	// shape is the function of RequestedToCapacityRatio: its utilizations rise, in percent, and its scores are from 0 to
	// 10. Required with that strategy and not allowed with others.
	Shape []UtilizationShapePoint `json:"shape,omitempty"`

	// nsWhiteList lists namespaces whose pods are not looked at: they are placed anywhere and charged nothing.
	// Default: none.
	NSWhiteList []string `json:"nsWhiteList,omitempty"`

	// diskIOModelConfig is a file or folder with model documents of disks, or with a list of vendors in the form of the
	// ConfigMap normalization-func, which is read besides. All profiles of a scheduler must name the same.
	// Default: none.
	DiskIOModelConfig string `json:"diskIOModelConfig,omitempty"`

	// bestEffortMinimum is the bandwidth, in bytes per second in each direction, that a pod without a certain demand is
	// charged. 1 to 1099511627776 (1 TiB/s). Default: 5242880 (5 MiB/s).
	BestEffortMinimum int64 `json:"bestEffortMinimum,omitempty"`

	// staleAfter is the age beyond which a report that carries a time no longer counts; then only what pods ask for
	// does. Default: "2m".
	StaleAfter metav1.Duration `json:"staleAfter,omitzero"`

	// fillDuration is how long the bytes that CacheAware expects a pod to fetch to its node count as writing to the
	// node's default disk; they are spread evenly over that time. At most "1h". Absent: they are not counted.
	FillDuration metav1.Duration `json:"fillDuration,omitzero"`

	// pressureWeightPercent, 1 to 100, is the share of its score that a disk under full measured pressure loses.
	// Absent: pressure is not looked at.
	PressureWeightPercent int32 `json:"pressureWeightPercent,omitempty"`
}

// DiskIOScoreStrategy says which disks are better than others.
type DiskIOScoreStrategy string

const (
	// DiskIOLeastAllocated prefers the disk of whose free bandwidth the pod takes the smallest share.
	DiskIOLeastAllocated DiskIOScoreStrategy = "LeastAllocated"
	// DiskIOMostAllocated prefers the disk of whose free bandwidth the pod takes the largest share.
	DiskIOMostAllocated DiskIOScoreStrategy = "MostAllocated"
	// DiskIORequestedToCapacityRatio scores how much of the disk is used when the pod is placed, by a shape.
	DiskIORequestedToCapacityRatio DiskIOScoreStrategy = "RequestedToCapacityRatio"
)

// UtilizationShapePoint is a point of the function from utilization to score.
type UtilizationShapePoint struct {
	// utilization is in percent, 0 to 100.
	Utilization int32 `json:"utilization"`
	// score is from 0 to 10.
	Score int32 `json:"score"`
}
