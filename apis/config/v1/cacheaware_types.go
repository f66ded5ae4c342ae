package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// CacheAwareArgs configures plugin CacheAware, which places pods near the datasets they use.
//
// +kubebuilder:object:root=true
type CacheAwareArgs struct {
	metav1.TypeMeta `json:",inline"`

	// datasetPolicy is the policy of pods without the annotation vicinity.dev/dataset-policy.
	// "Preferred" scores nodes by their nearness to the data; "Required" also rejects every node that does not
	// serve or hold each of the pod's datasets itself. Default: "Preferred".
	DatasetPolicy vicinityv1alpha1.DatasetPolicy `json:"datasetPolicy,omitempty"`

	// sources lists where knowledge of datasets is taken from: "NodeDatasetCache" (counted by Vicinity's agents),
	// "Fluid", "Datashim". Where two speak of the same place, the fresher news win, and without times the source
	// that stands first. A source whose resources are not installed says nothing.
	// Default: ["NodeDatasetCache", "Fluid", "Datashim"].
	Sources []DatasetSource `json:"sources,omitempty"`

	// staleAfter is the age beyond which a statement that carries a time no longer counts. It must be longer than
	// the agents' heartbeat, which is a minute. Default: "5m".
	StaleAfter metav1.Duration `json:"staleAfter,omitzero"`

	// scoring is "BytesSaved", the expected share of the pod's bytes that need not be fetched from afar, or
	// "Compatible", the 100/50/0 of the CacheAware fork for Datashim; the latter ignores tiers and media.
	// Default: "BytesSaved".
	Scoring Scoring `json:"scoring,omitempty"`

	// tiers lists the topology domains wider than a node, nearest first, at most 8. A replica counts in full on
	// its own node, and with the percent of the nearest tier on a node that shares one with it. Two nodes share a
	// tier when both carry its label with the same value and agree on all wider tiers.
	// Default: topology.vicinity.dev/rack 75, topology.kubernetes.io/zone 50, topology.kubernetes.io/region 25.
	Tiers []TopologyTier `json:"tiers,omitempty"`

	// media lists what bytes on a medium are worth. Bytes on a medium that is not listed, or not known, count in
	// full. Default: Memory 100, SSD 80, HDD 50.
	Media []MediumWorth `json:"media,omitempty"`

	// gatewayLoad lets pods spread from an overloaded gateway to its neighbourhood. Absent: load is not looked at.
	GatewayLoad GatewayLoad `json:"gatewayLoad,omitzero"`

	// waitForWarmNode is how long pods without the annotation vicinity.dev/dataset-wait wait for a node that
	// holds their data; then one more topology tier is admitted each time the same duration has passed. It does not
	// apply to pods that require a dataset: those wait without end, unless their annotation says for how long. Absent:
	// pods do not wait.
	WaitForWarmNode metav1.Duration `json:"waitForWarmNode,omitzero"`

	// coldData says what happens to datasets that no node holds, once Vicinity's agents report what nodes hold:
	// without their reports a dataset is not cold but unknown, and has no influence. Absent: its defaults.
	ColdData ColdData `json:"coldData,omitzero"`

	// keepOthersAwayPercent, 1 to 100, is the score of nodes without cached data for pods without datasets; nodes
	// with cached data score 0 for them. Absent: such pods are not looked at.
	KeepOthersAwayPercent int32 `json:"keepOthersAwayPercent,omitempty"`
}

// DatasetSource names an origin of knowledge of datasets.
type DatasetSource string

const (
	// SourceDatashim is Datashim's Dataset and DatasetInternal, of both of its API groups.
	SourceDatashim DatasetSource = "Datashim"
	// SourceFluid is Fluid's Dataset and its labels on nodes.
	SourceFluid DatasetSource = "Fluid"
	// SourceNodeDatasetCache is what Vicinity's agents counted.
	SourceNodeDatasetCache DatasetSource = "NodeDatasetCache"
)

// Scoring names a way to turn nearness into a score.
type Scoring string

const (
	// ScoringBytesSaved scores the expected share of bytes that need not be fetched from afar.
	ScoringBytesSaved Scoring = "BytesSaved"
	// ScoringCompatible scores like the CacheAware fork for Datashim.
	ScoringCompatible Scoring = "Compatible"
)

// MediumWorth is what bytes on a medium are worth.
type MediumWorth struct {
	// medium is "Memory", "SSD" or "HDD". Required, and listed once.
	Medium vicinityv1alpha1.Medium `json:"medium"`
	// percent is the worth, 1 to 100. Required.
	Percent int32 `json:"percent"`
}

// GatewayLoad says when a gateway counts as overloaded.
type GatewayLoad struct {
	// threshold is the number of bound pods for each gateway of a dataset up to which the gateway's own node keeps
	// its full score. With x times as many, no node scores more than 100/x: first the gateway's node loses its
	// lead over its rack, then the rack over the zone, and so on. At least 1; absent: load is not looked at.
	Threshold int32 `json:"threshold,omitempty"`
}

// ColdData says what happens to datasets that no node holds.
type ColdData struct {
	// policy is "Converge" or "Ignore". With "Converge", a node that a pod of the dataset goes to is taken to
	// become warm, so that the next pods join it, and each cold dataset has one home node that is a little
	// preferred. With "Ignore" nothing is remembered, and pods of cold datasets are placed as if they had none.
	// Default: "Converge".
	Policy ColdDataPolicy `json:"policy,omitempty"`
	// warmingTTL is how long a node is taken to become warm without any source saying that it is.
	// Default: "10m".
	WarmingTTL metav1.Duration `json:"warmingTTL,omitzero"`
	// homePercent is the score, 1 to 100, of the home node of a cold dataset. It decides between nodes that are about
	// equal otherwise. Default: 5.
	HomePercent int32 `json:"homePercent,omitempty"`
}

// ColdDataPolicy says what happens to datasets that no node holds.
type ColdDataPolicy string

const (
	// ColdDataConverge brings the pods of one cold dataset together.
	ColdDataConverge ColdDataPolicy = "Converge"
	// ColdDataIgnore places the pods of cold datasets as if they had none.
	ColdDataIgnore ColdDataPolicy = "Ignore"
)

// TopologyTier is one topology domain wider than a node.
type TopologyTier struct {
	// labelKey is the node label whose value names the domain. Required, and used by one tier only.
	LabelKey string `json:"labelKey"`
	// percent is the score of a node in the same domain, 1 to 99 and smaller than that of every nearer tier.
	// Required.
	Percent int32 `json:"percent"`
}
