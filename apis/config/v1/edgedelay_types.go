package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// EdgeDelayArgs configures plugin EdgeDelay, which places pods within their bounds of round-trip times.
//
// +kubebuilder:object:root=true
type EdgeDelayArgs struct {
	metav1.TypeMeta `json:",inline"`

	// unconstrainedPods says where pods without a bound go: "PreferCloud", "RequireCloud" or "Ignore". Default:
	// "PreferCloud".
	UnconstrainedPods UnconstrainedPods `json:"unconstrainedPods,omitempty"`

	// cloudSelector is a label selector that picks the nodes of the cloud, in kubectl's syntax. Default:
	// "kubernetes.io/role=cloud".
	CloudSelector string `json:"cloudSelector,omitempty"`

	// onUnknown is what becomes of nodes whose round-trip time to a bound's target nobody measured, for bounds that do
	// not say: "Reject", "Estimate" or "Allow". Estimate accepts a node if the estimate plus its error is within the
	// bound. Default: "Estimate".
	OnUnknown vicinityv1alpha1.DelayUnknownPolicy `json:"onUnknown,omitempty"`

	// percentile is that of the round-trip time which bounds that do not say are about: 50 or 99. Default: 50.
	Percentile int32 `json:"percentile,omitempty"`

	// clustering is "Off", which takes exactly the nodes within a bound, or "Layers", which takes the reference's
	// cluster of nodes that are all within the bound of each other, as the predecessor does: never more nodes, and often
	// fewer. Default: "Off".
	Clustering DelayClustering `json:"clustering,omitempty"`

	// initialClusterLayers are bounds whose clusters are made beforehand, on which those of longer bounds build; at most
	// 64, rising, from 0 to "1h". Only with clustering Layers. Default: none.
	InitialClusterLayers []metav1.Duration `json:"initialClusterLayers,omitempty"`

	// staticFiles is a delay matrix in files, read again when they change. Agents' and Goldpinger's fresh measurements of
	// a pair come before it. All profiles of a scheduler must name the same. Absent: none.
	StaticFiles DelayFiles `json:"staticFiles,omitzero"`
}

// UnconstrainedPods says where pods without a bound go.
type UnconstrainedPods string

const (
	// UnconstrainedPreferCloud scores the nodes of the cloud higher, where there are any.
	UnconstrainedPreferCloud UnconstrainedPods = "PreferCloud"
	// UnconstrainedRequireCloud rejects all other nodes.
	UnconstrainedRequireCloud UnconstrainedPods = "RequireCloud"
	// UnconstrainedIgnore does not look at pods without a bound.
	UnconstrainedIgnore UnconstrainedPods = "Ignore"
)

// DelayClustering says which nodes are within a bound.
type DelayClustering string

const (
	// DelayClusteringOff takes the exact radius.
	DelayClusteringOff DelayClustering = "Off"
	// DelayClusteringLayers takes the reference's cluster in the layer of the bound.
	DelayClusteringLayers DelayClustering = "Layers"
)

// DelayFiles are a delay matrix and the names of its rows, in the formats of kubernetes-edge-scheduler.
type DelayFiles struct {
	// matrix is the path of the matrix: numbers of milliseconds separated by white space, a row a line.
	Matrix string `json:"matrix"`
	// metadata is the path of a JSON object from node names to rows, counted from 0.
	Metadata string `json:"metadata"`
}
