package format

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Action is what a step does. The implementations are the verbs, one file each.
type Action interface {
	// validate checks what decoding cannot; path is the place of the step's fields in the file.
	validate(path *field.Path) field.ErrorList
}

// Verbs are the names of all verbs, in the order of the documentation.
func Verbs() []string {
	return []string{
		"apply", "delete", "patchStatus", "expect", "waitFor",
		"pauseNode", "resumeNode", "start", "kill", "restart", "writeFile", "run",
	}
}

func newAction(verb string) (Action, error) {
	switch verb {
	case "apply":
		return &Apply{}, nil
	case "delete":
		return &Delete{}, nil
	case "patchStatus":
		return &PatchStatus{}, nil
	case "expect":
		return &Expect{}, nil
	case "waitFor":
		return &WaitFor{}, nil
	case "pauseNode":
		return &PauseNode{}, nil
	case "resumeNode":
		return &ResumeNode{}, nil
	case "start":
		return &Start{}, nil
	case "kill":
		return &Kill{}, nil
	case "restart":
		return &Restart{}, nil
	case "writeFile":
		return &WriteFile{}, nil
	case "run":
		return &Run{}, nil
	}
	return nil, fmt.Errorf("unknown verb %q; want one of %s", verb, strings.Join(Verbs(), ", "))
}
