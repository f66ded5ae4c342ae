package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// ResumeNode gives a paused node back to kwok and waits until it is Ready again.
type ResumeNode struct {
	// Node is the node's name.
	Node string `json:"node"`
}

func (r *ResumeNode) validate(path *field.Path) field.ErrorList { return requireNode(path, r.Node) }
