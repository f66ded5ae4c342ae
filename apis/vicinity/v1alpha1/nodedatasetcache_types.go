package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeDatasetCache holds how many bytes of which datasets lie on one node. It has the node's name, and that node's
// agent writes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=nodedatasetcaches,singular=nodedatasetcache,shortName=ndc,categories=vicinity
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.status.observedAt`,description="when the agent last wrote"
type NodeDatasetCache struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata. The name MUST be that of the Node.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// status is what the node's agent observed. Absent until its first report.
	//
	// +optional
	Status NodeDatasetCacheStatus `json:"status,omitzero"`
}

// NodeDatasetCacheStatus is what the agent of a node found in its cache folders.
//
// +kubebuilder:validation:MinProperties=1
type NodeDatasetCacheStatus struct {
	// observedAt is when the agent last wrote this status, by the node's clock. It also changes when nothing else
	// does, as a sign of life. Absent means that nothing was observed.
	//
	// +optional
	ObservedAt metav1.Time `json:"observedAt,omitempty,omitzero"`

	// datasets lists what was found, each dataset once a medium, at most 2048. A dataset that is not listed has
	// no byte on this node.
	//
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=name
	// +listMapKey=medium
	// +kubebuilder:validation:MaxItems=2048
	Datasets []CachedDataset `json:"datasets,omitempty"`
}

// CachedDataset is the part of one dataset that lies on one medium of the node.
//
// +kubebuilder:validation:XValidation:rule="!has(self.totalBytes) || self.cachedBytes <= self.totalBytes",message="cachedBytes must not be more than totalBytes"
type CachedDataset struct {
	// namespace is the namespace of the dataset.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is the name of the dataset.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// medium is what the bytes lie on: Memory, SSD or HDD.
	//
	// +required
	Medium Medium `json:"medium,omitempty"`

	// observedAt is when the bytes were last counted, by the node's clock.
	//
	// +required
	ObservedAt metav1.Time `json:"observedAt,omitempty,omitzero"`

	// cachedBytes is the number of bytes allocated on the medium, at least 1.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	CachedBytes int64 `json:"cachedBytes,omitempty"`

	// totalBytes is the size of the whole dataset in bytes, at least cachedBytes. Absent means unknown.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	TotalBytes int64 `json:"totalBytes,omitempty"`
}

// Medium is a kind of storage, by how fast it can be read.
//
// +kubebuilder:validation:Enum=Memory;SSD;HDD
type Medium string

const (
	// MediumMemory is a file system in memory, such as tmpfs.
	MediumMemory Medium = "Memory"
	// MediumSSD is storage without moving parts.
	MediumSSD Medium = "SSD"
	// MediumHDD is storage on rotating disks.
	MediumHDD Medium = "HDD"
)

// NodeDatasetCacheList is a list of NodeDatasetCache.
//
// +kubebuilder:object:root=true
type NodeDatasetCacheList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items is the list.
	Items []NodeDatasetCache `json:"items"`
}
