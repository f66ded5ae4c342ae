package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// PatchStatus merges fields into an object's status, as the controller that owns the status would.
type PatchStatus struct {
	Reference

	// Status is merged; a field set to null is removed.
	Status map[string]any `json:"status"`
}

func (p *PatchStatus) validate(path *field.Path) field.ErrorList {
	errs := p.Reference.validate(path)
	if len(p.Status) == 0 {
		errs = append(errs, field.Required(path.Child("status"), "the fields to merge"))
	}
	return errs
}
