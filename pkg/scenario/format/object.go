package format

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxWait is the longest time that a step may wait: a scenario is a demonstration, not a soak test.
const maxWait = 10 * time.Minute

// Reference names an object that a step deletes, patches or waits for.
type Reference struct {
	// APIVersion is v1 when absent.
	APIVersion string `json:"apiVersion"`
	// Kind is the object's kind.
	Kind string `json:"kind"`
	// Name is the object's name.
	Name string `json:"name"`
	// Namespace is the scenario's own when absent, and ignored for cluster-scoped kinds.
	Namespace string `json:"namespace"`
}

func (r *Reference) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if _, err := schema.ParseGroupVersion(r.APIVersion); err != nil {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), r.APIVersion, err.Error()))
	}
	if r.Kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), "for instance Pod"))
	}
	if r.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "the object's name"))
	}
	return errs
}

// validateObject checks what server-side apply needs to know; the rest is for the API server to judge.
func validateObject(path *field.Path, content map[string]any) field.ErrorList {
	metadata, _ := content["metadata"].(map[string]any)
	var errs field.ErrorList
	for _, part := range []struct {
		path  *field.Path
		value any
	}{
		{path.Child("apiVersion"), content["apiVersion"]},
		{path.Child("kind"), content["kind"]},
		{path.Child("metadata", "name"), metadata["name"]},
	} {
		switch text, ok := part.value.(string); {
		case part.value == nil || ok && text == "":
			errs = append(errs, field.Required(part.path, "every object needs it"))
		case !ok: // YAML takes n and y for booleans
			errs = append(errs, field.TypeInvalid(part.path, part.value, "want a text; put it into quotes"))
		}
	}
	return errs
}

// validateDuration checks an optional duration.
func validateDuration(path *field.Path, d *metav1.Duration) field.ErrorList {
	if d != nil && (d.Duration <= 0 || d.Duration > maxWait) {
		return field.ErrorList{field.Invalid(path, d.Duration.String(), fmt.Sprintf("want more than 0s and at most %s", maxWait))}
	}
	return nil
}
