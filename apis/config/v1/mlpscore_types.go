package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MLPScoreArgs configures plugin MLPScore, which scores nodes with a trained network.
//
// +kubebuilder:object:root=true
type MLPScoreArgs struct {
	metav1.TypeMeta `json:",inline"`

	// mode is "Off", "Shadow" (the network is evaluated and what it would have chosen is counted, but it changes
	// nothing) or "Active". Default: "Off".
	Mode MLPScoreMode `json:"mode,omitempty"`

	// modelFile is a file with a model, which is read again when it changes. At most one of modelFile and modelConfigMap
	// may be set, and all profiles of a scheduler must name the same. Default: the model that is built in.
	ModelFile string `json:"modelFile,omitempty"`

	// modelConfigMap is the name of a ConfigMap in the scheduler's namespace whose binary key "model.safetensors" holds a
	// model. While it is absent or faulty the model before is used, at first the one that is built in.
	ModelConfigMap string `json:"modelConfigMap,omitempty"`

	// deadline bounds how long the network may work on one pod. Beyond it the fallback decides. The clock is
	// looked at after every 32 nodes, and what is done by then is kept for the next pod of the same shape. 1us to 1s.
	// Default: "20ms".
	Deadline metav1.Duration `json:"deadline,omitzero"`

	// fallback is what scores nodes when the network cannot: beyond the deadline, or when an output is no number.
	// "FGD" is fragmentation gradient descent, "Neutral" leaves the choice to the other plugins. Default: "FGD".
	Fallback MLPScoreFallback `json:"fallback,omitempty"`

	// external asks a server over HTTP instead of the network. Absent: none is asked.
	External *MLPScoreExternal `json:"external,omitempty"`
}

// MLPScoreMode says what the network's scores are used for.
type MLPScoreMode string

const (
	// MLPScoreOff evaluates nothing.
	MLPScoreOff MLPScoreMode = "Off"
	// MLPScoreShadow evaluates the network beside the other plugins and changes nothing.
	MLPScoreShadow MLPScoreMode = "Shadow"
	// MLPScoreActive lets the network's scores count.
	MLPScoreActive MLPScoreMode = "Active"
)

// MLPScoreFallback says what replaces the network's scores.
type MLPScoreFallback string

const (
	// MLPScoreFallbackFGD is fragmentation gradient descent.
	MLPScoreFallbackFGD MLPScoreFallback = "FGD"
	// MLPScoreFallbackNeutral gives all nodes the same score.
	MLPScoreFallbackNeutral MLPScoreFallback = "Neutral"
)

// MLPScoreExternal is a server that takes the pod and its candidate nodes, and answers with a score for each: POST
// {"pod": ..., "nodes": [...]} yields {"scores": {"node-a": 37}}. It is there for compatibility; it costs a request with
// all nodes for each pod.
type MLPScoreExternal struct {
	// url is asked, http or https.
	URL string `json:"url"`
	// timeout bounds one request; beyond it the fallback decides. 1ms to 10s. Default: "100ms".
	Timeout metav1.Duration `json:"timeout,omitzero"`
}
