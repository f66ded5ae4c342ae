package format

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Run runs a program in the scenario's working folder and waits for it. The environment has KUBECONFIG (cluster admin)
// and NAMESPACE (the scenario's own), and PATH begins with the folder of the vicinity executables.
type Run struct {
	// Command is the program and its arguments. There is no shell unless it is named.
	Command []string `json:"command"`
	// Env are further variables.
	Env map[string]string `json:"env"`
	// ExitCode is what the program must end with, 0 when absent.
	ExitCode int `json:"exitCode"`
	// Output must occur in what the program prints on stdout or stderr.
	Output string `json:"output"`
	// Within is the longest time that the program may take, 1m when absent.
	Within *metav1.Duration `json:"within"`
}

func (r *Run) validate(path *field.Path) field.ErrorList {
	errs := validateDuration(path.Child("within"), r.Within)
	if len(r.Command) == 0 || r.Command[0] == "" {
		errs = append(errs, field.Required(path.Child("command"), "a program and its arguments"))
	}
	return errs
}
