package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeRTT holds the round-trip times from one node to others. It has the node's name.
//
// Several writers share one object by server-side apply, each with a field manager of its own, each owning the list
// entries of its source: the node's agent those of source Agent, with observedAt and coordinate; the controller those
// of Goldpinger and GoldpingerUDP; and whoever imports a delay matrix those of Static. The source is part of the key of
// every entry, so writers never touch each other's, and a writer that applies without an entry removes its own.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=noderrts,singular=noderrt,shortName=nrtt,categories=vicinity
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.status.observedAt`,description="when the agent last wrote"
// +kubebuilder:printcolumn:name="Error PPM",type=integer,JSONPath=`.status.coordinate.errorPartsPerMillion`
type NodeRTT struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata. The name MUST be that of the Node.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// status is what the node's agent observed. Absent until its first report.
	//
	// +optional
	Status NodeRTTStatus `json:"status,omitzero"`
}

// NodeRTTStatus is what is known about the network of a node.
//
// +kubebuilder:validation:MinProperties=1
type NodeRTTStatus struct {
	// observedAt is when the agent last wrote this status, by the node's clock. It also changes when nothing else
	// does, as a sign of life. Absent means that nothing was observed.
	//
	// +optional
	ObservedAt metav1.Time `json:"observedAt,omitempty,omitzero"`

	// peers lists the nodes that were probed, each once a source, at most 16384. A node that is not listed was not
	// probed lately, which says nothing about how far away it is.
	//
	// +optional
	// +listType=map
	// +listMapKey=node
	// +listMapKey=source
	// +kubebuilder:validation:MaxItems=16384
	Peers []PeerRTT `json:"peers,omitempty"`

	// endpoints lists the places outside the cluster that the agent probed because a pod's bound refers to them, each
	// once, at most 256.
	//
	// +optional
	// +listType=map
	// +listMapKey=endpoint
	// +kubebuilder:validation:MaxItems=256
	Endpoints []EndpointRTT `json:"endpoints,omitempty"`

	// coordinate is the node's place in the network coordinate system (Vivaldi), from which the round-trip time
	// to a node that was not probed is estimated. Absent until there is one.
	//
	// +optional
	Coordinate NetworkCoordinate `json:"coordinate,omitzero"`
}

// RTTSource is what told a round-trip time.
//
// +kubebuilder:validation:Enum=Agent;Goldpinger;GoldpingerUDP;Static
type RTTSource string

const (
	// RTTSourceAgent is the node's own agent, by ICMP or UDP echo.
	RTTSourceAgent RTTSource = "Agent"
	// RTTSourceGoldpinger is the time of Goldpinger's HTTP requests, in whole milliseconds.
	RTTSourceGoldpinger RTTSource = "Goldpinger"
	// RTTSourceGoldpingerUDP is Goldpinger's UDP echo, or the mean of its histogram.
	RTTSourceGoldpingerUDP RTTSource = "GoldpingerUDP"
	// RTTSourceStatic is a matrix that somebody wrote down. It never grows old.
	RTTSourceStatic RTTSource = "Static"
)

// PeerRTT is what one source knows between the node and one other.
//
// +kubebuilder:validation:XValidation:rule="!has(self.p99Microseconds) || has(self.p50Microseconds) && self.p50Microseconds <= self.p99Microseconds",message="p99Microseconds needs a p50Microseconds that is not more"
type PeerRTT struct {
	// node is the name of the other Node.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// source is what told: Agent, Goldpinger, GoldpingerUDP or Static.
	//
	// +required
	Source RTTSource `json:"source,omitempty"`

	RTT `json:",inline"`
}

// EndpointRTT is what the agent measured between the node and a place outside the cluster.
//
// +kubebuilder:validation:XValidation:rule="!has(self.p99Microseconds) || has(self.p50Microseconds) && self.p50Microseconds <= self.p99Microseconds",message="p99Microseconds needs a p50Microseconds that is not more"
type EndpointRTT struct {
	// endpoint is the host name or IP address, with ":port" where the bound gives one, exactly as the bound has it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=261
	Endpoint string `json:"endpoint,omitempty"`

	RTT `json:",inline"`
}

// RTT is a measured round-trip time.
type RTT struct {
	// observedAt is when the last of the probes ended, by the clock of who sent it.
	//
	// +required
	ObservedAt metav1.Time `json:"observedAt,omitempty,omitzero"`

	// samples is the number of probes, answered or not, that the other fields are taken from: 1 to 1000000.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Samples int32 `json:"samples,omitempty"`

	// p50Microseconds is the median round-trip time of the answered probes in microseconds, 1 (also for anything
	// shorter) to 3600000000. While no probe is answered, which lossPartsPerMillion 1000000 tells, it is the last that
	// was known; absent when there never was one.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000000
	P50Microseconds int64 `json:"p50Microseconds,omitempty"`

	// p99Microseconds is the 99th percentile of the round-trip time of the answered probes in microseconds, 1 to
	// 3600000000. Absent when p50Microseconds is, or when there were too few for a percentile.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000000
	P99Microseconds int64 `json:"p99Microseconds,omitempty"`

	// lossPartsPerMillion is the share of probes without an answer, 1 to 1000000. Absent when all were answered.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	LossPartsPerMillion int32 `json:"lossPartsPerMillion,omitempty"`
}

// NetworkCoordinate is a point in a Euclidean space plus a height, such that the distance between two nodes'
// points plus both heights and adjustments estimates the round-trip time between the nodes.
type NetworkCoordinate struct {
	// vectorMicroseconds is the point, one number a dimension, 1 to 16 dimensions, each number within plus or minus
	// 3600000000. Coordinates of different dimensions cannot be compared.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=-3600000000
	// +kubebuilder:validation:items:Maximum=3600000000
	VectorMicroseconds []int64 `json:"vectorMicroseconds,omitempty"`

	// heightMicroseconds is the node's distance from the network's core, which every path to it pays: 1 to
	// 3600000000.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000000
	HeightMicroseconds int64 `json:"heightMicroseconds,omitempty"`

	// errorPartsPerMillion is the relative error to expect of estimates from this coordinate, 1 to 10000000. A
	// node that has measured nothing yet reports a large one.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	ErrorPartsPerMillion int32 `json:"errorPartsPerMillion,omitempty"`

	// adjustmentMicroseconds corrects estimates that are too long or too short on all of the node's paths, within
	// plus or minus 3600000000. Absent means 0.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-3600000000
	// +kubebuilder:validation:Maximum=3600000000
	AdjustmentMicroseconds *int64 `json:"adjustmentMicroseconds,omitempty"`
}

// NodeRTTList is a list of NodeRTT.
//
// +kubebuilder:object:root=true
type NodeRTTList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items is the list.
	Items []NodeRTT `json:"items"`
}
