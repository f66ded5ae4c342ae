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

	// tiers lists the topology domains wider than a node, nearest first, at most 8. A node that serves or holds
	// a dataset scores 100 for it; another node scores the percent of the nearest tier it shares with such a
	// node, or 0. Two nodes share a tier when both carry its label with the same value and agree on all wider
	// tiers. Default: topology.vicinity.dev/rack 75, topology.kubernetes.io/zone 50,
	// topology.kubernetes.io/region 25.
	Tiers []TopologyTier `json:"tiers,omitempty"`
}

// TopologyTier is one topology domain wider than a node.
type TopologyTier struct {
	// labelKey is the node label whose value names the domain. Required, and used by one tier only.
	LabelKey string `json:"labelKey"`
	// percent is the score of a node in the same domain, 1 to 99 and smaller than that of every nearer tier.
	// Required.
	Percent int32 `json:"percent"`
}
