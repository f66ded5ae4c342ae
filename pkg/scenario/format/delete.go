package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// Delete removes objects or CRDs and waits until they are gone.
type Delete struct {
	// CRDs are sets of foreign CRDs to remove, with all their objects.
	CRDs []string `json:"crds"`
	// Objects are removed in the order of the file, pods without grace period.
	Objects []Reference `json:"objects"`
}

func (d *Delete) disturbsCluster() bool { return len(d.CRDs) > 0 }

func (d *Delete) validate(path *field.Path) field.ErrorList {
	errs := validateCRDSets(path.Child("crds"), d.CRDs)
	if len(d.CRDs)+len(d.Objects) == 0 {
		errs = append(errs, field.Required(path, "at least one of crds, objects"))
	}
	for i := range d.Objects {
		errs = append(errs, d.Objects[i].validate(path.Child("objects").Index(i))...)
	}
	return errs
}
