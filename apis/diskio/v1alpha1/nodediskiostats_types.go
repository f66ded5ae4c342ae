package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeDiskIOStats holds how much bandwidth the disks of one node have left. Its singular is its plural, as in the
// predecessor.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=nodediskiostats,singular=nodediskiostats,categories=vicinity
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeDiskIOStats struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec names the node and tells its driver which pods to account for.
	// +optional
	Spec NodeDiskIOStatsSpec `json:"spec,omitzero"`

	// status is what the driver reports.
	// +optional
	Status NodeDiskIOStatsStatus `json:"status,omitzero"`
}

// NodeDiskIOStatsSpec is what the driver of a node is told.
type NodeDiskIOStatsSpec struct {
	// nodeName is the name of the Node.
	// +required
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName"`

	// reservedPods lists the UIDs of the pods on the node, at most 4096. Drivers that do not look at pods themselves
	// subtract what these ask for.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MaxLength=512
	ReservedPods []string `json:"reservedPods,omitempty"`
}

// NodeDiskIOStatsStatus is what the driver of a node reports.
type NodeDiskIOStatsStatus struct {
	// observedGeneration is the generation of the spec that the rest of the status was computed from. Absent means
	// that none was.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// allocableBandwidth maps the identifier of each disk, as in NodeDiskDevice, to the bandwidth it has left. At
	// most 256. A disk that is not listed is not reported on.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	AllocableBandwidth map[string]IOBandwidth `json:"allocableBandwidth,omitempty"`

	// allocatableBandwidth is allocableBandwidth under the name that the predecessor's design document gives it. Where
	// both name a disk, allocableBandwidth counts.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	AllocatableBandwidth map[string]IOBandwidth `json:"allocatableBandwidth,omitempty"`

	// observedAt is when the bandwidth was measured, by the node's clock. Absent means that the driver does not tell,
	// and that the report does not become stale.
	// +optional
	ObservedAt metav1.Time `json:"observedAt,omitzero"`

	// pressurePartsPerMillion maps the identifier of each disk to the share of time in which something waited for it,
	// 0 to 1000000, such as the "some" average of the kernel's pressure stall information. At most 256. A disk that is
	// not listed has unknown pressure.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	PressurePartsPerMillion map[string]int64 `json:"pressurePartsPerMillion,omitempty"`

	// observedPods lists the UIDs of the pods whose use the report contains, at most 4096. Absent means those of
	// spec.reservedPods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MaxLength=512
	ObservedPods []string `json:"observedPods,omitempty"`

	// measured maps the identifier of each disk to what it did on average before observedAt. At most 256. It is for people
	// and tools: a scheduler goes by what is left.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	Measured map[string]DiskUsage `json:"measured,omitempty"`
}

// DiskUsage is what a disk does on average. Absent fields mean 0.
type DiskUsage struct {
	// readBytesPerSecond is how many bytes are read per second.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadBytesPerSecond int64 `json:"readBytesPerSecond,omitempty"`

	// writeBytesPerSecond is how many bytes are written per second.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WriteBytesPerSecond int64 `json:"writeBytesPerSecond,omitempty"`

	// readIOPS is the number of read operations per second.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadIOPS int64 `json:"readIOPS,omitempty"`

	// writeIOPS is the number of write operations per second.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WriteIOPS int64 `json:"writeIOPS,omitempty"`

	// readLatencyMicroseconds is how long a read operation takes, queueing included, in microseconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadLatencyMicroseconds int64 `json:"readLatencyMicroseconds,omitempty"`

	// writeLatencyMicroseconds is how long a write operation takes, queueing included, in microseconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WriteLatencyMicroseconds int64 `json:"writeLatencyMicroseconds,omitempty"`

	// busyPartsPerMillion is the share of time in which the disk had something to do, 0 to 1000000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	BusyPartsPerMillion int64 `json:"busyPartsPerMillion,omitempty"`
}

// NodeDiskIOStatsList is a list of NodeDiskIOStats.
//
// +kubebuilder:object:root=true
type NodeDiskIOStatsList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items is the list.
	Items []NodeDiskIOStats `json:"items"`
}
