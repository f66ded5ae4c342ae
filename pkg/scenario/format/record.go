package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// Record is what the scheduler's decision records must say of a pod. Besides, no decision may be recorded twice.
type Record struct {
	// Contains are fields that a record must have, in its JSON form: a map needs the named keys only, a list needs each
	// named entry somewhere.
	Contains map[string]any `json:"contains"`
	// Times is how many records of each pod must be so, exactly; at least one when absent.
	Times int `json:"times"`
}

func (e *Expect) validateRecord(path *field.Path) (errs field.ErrorList) {
	at := path.Child("record")
	if len(e.Record.Contains) == 0 {
		errs = append(errs, field.Required(at.Child("contains"), "fields of a decision record"))
	}
	if e.Record.Times < 0 {
		errs = append(errs, field.Invalid(at.Child("times"), e.Record.Times, "must not be negative"))
	}
	if e.bound() || e.Pending != "" || e.For != nil || e.Recreate {
		errs = append(errs, field.Forbidden(at, "not together with node, nodes, maxNodes, pending, for or recreate: use a step for each"))
	}
	return errs
}
