package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// Restart starts one of Vicinity's processes again, after stopping it if it still runs, and waits until it is ready.
type Restart struct {
	// Process is the component's name, for instance scheduler.
	Process string `json:"process"`
}

func (*Restart) disturbsCluster() bool { return true }

func (r *Restart) validate(path *field.Path) field.ErrorList { return requireProcess(path, r.Process) }
