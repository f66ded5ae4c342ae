package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeDiskDevice lists the disks of one node and what they can do. A driver on the node, such as vicinity-agent,
// writes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=nodediskdevices,singular=nodediskdevice,categories=vicinity
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeDiskDevice struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the node has.
	// +optional
	Spec NodeDiskDeviceSpec `json:"spec,omitzero"`

	// status has no fields.
	// +optional
	Status NodeDiskDeviceStatus `json:"status,omitzero"`
}

// NodeDiskDeviceSpec describes the disks of a node.
type NodeDiskDeviceSpec struct {
	// nodeName is the name of the Node. An object without it is ignored.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`

	// devices maps the identifier of each disk, which is unique on the node, to its description. At most 256.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	Devices map[string]DiskDevice `json:"devices,omitempty"`
}

// DiskDevice describes one disk.
type DiskDevice struct {
	// name is the name of the disk on the node.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// vendor is the manufacturer. Together with model it chooses the model by which requests are normalised.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Vendor string `json:"vendor,omitempty"`

	// model is the manufacturer's name for this kind of disk.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Model string `json:"model,omitempty"`

	// type is "emptyDir" for the node's default disk, which emptyDir volumes and images are on, and "others" for
	// every other. Absent or unknown means "others".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Type DiskDeviceType `json:"type,omitempty"`

	// mountPoints lists the folders on the node at which file systems of this disk are mounted, at most 64. A local
	// volume whose path lies below one of them is on this disk; the longest match counts. Absent means that no local
	// volume is known to be on it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	MountPoints []string `json:"mountPoints,omitempty"`

	// capacity is the bandwidth of the idle disk.
	// +optional
	Capacity IOBandwidth `json:"capacity,omitzero"`
}

// DiskDeviceType tells a node's default disk from the others.
type DiskDeviceType string

const (
	// DiskDeviceTypeEmptyDir is the disk that emptyDir volumes, images and container layers are on.
	DiskDeviceTypeEmptyDir DiskDeviceType = "emptyDir"
	// DiskDeviceTypeOthers is any other disk.
	DiskDeviceTypeOthers DiskDeviceType = "others"
)

// IOBandwidth is a bandwidth in bytes per second at the disk's reference block size, such as "1000Mi".
type IOBandwidth struct {
	// total is the bandwidth of reading and writing at once. On many disks it is less than read and write together.
	// Absent means 0.
	// +optional
	Total resource.Quantity `json:"total"`

	// read is the bandwidth of reading alone. Absent means 0.
	// +optional
	Read resource.Quantity `json:"read"`

	// write is the bandwidth of writing alone. Absent means 0.
	// +optional
	Write resource.Quantity `json:"write"`

	// readIOPS is the number of read operations per second. Absent, or absent together with writeIOPS, means unknown:
	// then operations are not limited.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadIOPS int64 `json:"readIOPS,omitempty"`

	// writeIOPS is the number of write operations per second. Absent, or absent together with readIOPS, means unknown.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WriteIOPS int64 `json:"writeIOPS,omitempty"`
}

// NodeDiskDeviceStatus is empty.
type NodeDiskDeviceStatus struct{}

// NodeDiskDeviceList is a list of NodeDiskDevice.
//
// +kubebuilder:object:root=true
type NodeDiskDeviceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items is the list.
	Items []NodeDiskDevice `json:"items"`
}
