package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// Folder stands in the agent's configuration, and in the arguments of a profile's plugins, for the scenario's working
// folder, where writeFile writes.
const Folder = "$(FOLDER)"

// Start starts one of Vicinity's processes that does not run yet, and waits until it is ready.
type Start struct {
	// Process is "controller", "agent" or "sniffer".
	Process string `json:"process"`
	// Node is the node that the agent reports for. It must exist.
	Node string `json:"node"`
	// Config is the AgentConfiguration; that of the manifests when absent.
	Config map[string]any `json:"config"`
	// Args are further arguments of the controller. GoldpingerURL stands in them for the Goldpinger's address.
	Args []string `json:"args"`
}

func (*Start) disturbsCluster() bool { return true }

func (s *Start) validate(path *field.Path) field.ErrorList {
	var faults field.ErrorList
	switch s.Process {
	case "agent":
		if s.Args != nil {
			faults = append(faults, field.Forbidden(path.Child("args"), "only a controller takes arguments, an agent has a config"))
		}
		if s.Node == "" {
			faults = append(faults, field.Required(path.Child("node"), "an agent reports for a node"))
		}
	case "controller", "sniffer":
		if s.Node != "" || s.Config != nil {
			faults = append(faults, field.Forbidden(path, "only an agent has a node and a config"))
		}
	default:
		faults = append(faults, field.NotSupported(path.Child("process"), s.Process, []string{"agent", "controller", "sniffer"}))
	}
	return faults
}
