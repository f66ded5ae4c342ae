package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupReservation summarises which pods one node stands by for, and what it must keep free for them. It has the
// node's name. The controller writes it for people and for other schedulers; the truth is on the pods, in their
// annotation vicinity.dev/backup-node, and readers that place pods MUST use that.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=backupreservations,singular=backupreservation,shortName=bres,categories=vicinity
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.status.observedAt`,description="when the controller last wrote"
// +kubebuilder:printcolumn:name="Pods",type=integer,JSONPath=`.status.podCount`,description="pods that the node stands by for"
type BackupReservation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata. The name MUST be that of the Node.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// status is the summary. Absent until there is one.
	//
	// +optional
	Status BackupReservationStatus `json:"status,omitzero"`
}

// BackupReservationStatus is the summary of a node's duties as a backup.
//
// +kubebuilder:validation:MinProperties=1
type BackupReservationStatus struct {
	// observedAt is when the controller last wrote this status, by its own clock. Absent means that nothing was
	// observed.
	//
	// +optional
	ObservedAt metav1.Time `json:"observedAt,omitempty,omitzero"`

	// podCount is the number of pods that the node stands by for, at least 1. Absent means none.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	PodCount int32 `json:"podCount,omitempty"`

	// pods lists the pods that the node stands by for, each once, at most 1024 of podCount.
	//
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1024
	Pods []BackedUpPod `json:"pods,omitempty"`

	// reserved lists what the node must keep free, each resource once, at most 128: the most that any single
	// failure among those it stands by for would move to it. A resource that is not listed need not be kept free.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Reserved []ReservedResource `json:"reserved,omitempty"`
}

// BackedUpPod is one pod that the node stands by for.
type BackedUpPod struct {
	// namespace is the namespace of the pod.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is the name of the pod.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// node is the name of the node that the pod runs on.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// survives is the failure that the pod must survive: Node or Zone.
	//
	// +required
	Survives FailureDomain `json:"survives,omitempty"`
}

// FailureDomain is what fails as a whole.
//
// +kubebuilder:validation:Enum=Node;Zone
type FailureDomain string

const (
	// FailureDomainNode is the node that a pod runs on.
	FailureDomainNode FailureDomain = "Node"
	// FailureDomainZone is the zone of that node, with all its nodes.
	FailureDomainZone FailureDomain = "Zone"
)

// ReservedResource is an amount of one resource.
type ReservedResource struct {
	// name is the name of the resource as in a container's requests, such as cpu, memory or nvidia.com/gpu.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Name string `json:"name,omitempty"`

	// amount is how much is reserved, at least 1: thousandths of a core for cpu, bytes for memory,
	// ephemeral-storage and hugepages-*, a count for everything else.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	Amount int64 `json:"amount,omitempty"`
}

// BackupReservationList is a list of BackupReservation.
//
// +kubebuilder:object:root=true
type BackupReservationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items is the list.
	Items []BackupReservation `json:"items"`
}
