package format

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kill ends one of Vicinity's processes with SIGKILL, as a crash does.
type Kill struct {
	// Process is the component's name, for instance scheduler.
	Process string `json:"process"`
}

func (*Kill) disturbsCluster() bool { return true }

func (k *Kill) validate(path *field.Path) field.ErrorList { return requireProcess(path, k.Process) }

// Processes are the names by which steps know Vicinity's processes.
func Processes() []string { return []string{"scheduler", "controller", "agent", "sniffer"} }

func requireProcess(path *field.Path, process string) field.ErrorList {
	if !slices.Contains(Processes(), process) {
		return field.ErrorList{field.NotSupported(path.Child("process"), process, Processes())}
	}
	return nil
}
