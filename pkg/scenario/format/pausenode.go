package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// PauseNode makes kwok leave a node alone: its heartbeats stop as if the machine had lost power. The step does not wait
// for kube-controller-manager to notice; waitFor with condition Ready=Unknown does.
type PauseNode struct {
	// Node is the node's name.
	Node string `json:"node"`
}

func (p *PauseNode) validate(path *field.Path) field.ErrorList { return requireNode(path, p.Node) }

func requireNode(path *field.Path, node string) field.ErrorList {
	if node == "" {
		return field.ErrorList{field.Required(path.Child("node"), "the node's name")}
	}
	return nil
}
