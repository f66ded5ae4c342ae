package format

import (
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WriteFile writes a file below the scenario's working folder, which is empty at the start and removed at the end.
type WriteFile struct {
	// Path is relative to the working folder; folders are created.
	Path string `json:"path"`
	// Content is the file's text.
	Content string `json:"content"`
	// Executable makes it a program that `run` can start.
	Executable bool `json:"executable"`
}

func (w *WriteFile) validate(path *field.Path) field.ErrorList {
	if !filepath.IsLocal(w.Path) {
		return field.ErrorList{field.Invalid(path.Child("path"), w.Path, "want a path that stays below the scenario's working folder")}
	}
	return nil
}
