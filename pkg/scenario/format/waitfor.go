package format

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WaitFor waits until an object exists, has a condition, contains some fields, or is gone.
type WaitFor struct {
	Reference

	// Condition is the type of a status condition that must be True, or "<type>=<status>".
	Condition string `json:"condition"`
	// Contains are fields that the object must have with these values, besides any others.
	Contains map[string]any `json:"contains"`
	// Gone waits for the object to disappear.
	Gone bool `json:"gone"`
	// Within is the longest time to wait, 30s when absent.
	Within *metav1.Duration `json:"within"`
}

func (w *WaitFor) validate(path *field.Path) field.ErrorList {
	errs := append(w.Reference.validate(path), validateDuration(path.Child("within"), w.Within)...)
	if w.Gone && (w.Condition != "" || w.Contains != nil) {
		errs = append(errs, field.Forbidden(path.Child("gone"), "an object that is gone has neither a condition nor fields"))
	}
	return errs
}
