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
		"pauseNode", "resumeNode", "start", "kill", "restart", "writeFile", "run", "goldpinger",
	}
}

// actions makes an empty action for each verb.
func actions() map[string]func() Action {
	return map[string]func() Action{
		"apply":       func() Action { return &Apply{} },
		"delete":      func() Action { return &Delete{} },
		"patchStatus": func() Action { return &PatchStatus{} },
		"expect":      func() Action { return &Expect{} },
		"waitFor":     func() Action { return &WaitFor{} },
		"pauseNode":   func() Action { return &PauseNode{} },
		"resumeNode":  func() Action { return &ResumeNode{} },
		"start":       func() Action { return &Start{} },
		"kill":        func() Action { return &Kill{} },
		"restart":     func() Action { return &Restart{} },
		"writeFile":   func() Action { return &WriteFile{} },
		"run":         func() Action { return &Run{} },
		"goldpinger":  func() Action { return &Goldpinger{} },
	}
}

func newAction(verb string) (Action, error) {
	action, ok := actions()[verb]
	if !ok {
		return nil, fmt.Errorf("unknown verb %q; want one of %s", verb, strings.Join(Verbs(), ", "))
	}
	return action(), nil
}
