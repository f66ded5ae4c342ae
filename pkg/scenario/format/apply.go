package format

import "k8s.io/apimachinery/pkg/util/validation/field"

// Apply creates or changes objects by server-side apply: CRDs first, then nodes, then objects in the order of the file.
type Apply struct {
	// CRDs are sets of foreign CRDs to install.
	CRDs []string `json:"crds"`
	// Nodes are fake nodes in short form; the step ends when they are Ready.
	Nodes []Node `json:"nodes"`
	// Objects are complete Kubernetes objects. A status is applied through the status subresource.
	Objects []map[string]any `json:"objects"`
}

func (a *Apply) disturbsCluster() bool { return len(a.CRDs) > 0 }

func (a *Apply) validate(path *field.Path) field.ErrorList {
	errs := validateCRDSets(path.Child("crds"), a.CRDs)
	if len(a.CRDs)+len(a.Nodes)+len(a.Objects) == 0 {
		errs = append(errs, field.Required(path, "at least one of crds, nodes, objects"))
	}
	errs = append(errs, validateNodes(path.Child("nodes"), a.Nodes)...)
	for i, content := range a.Objects {
		errs = append(errs, validateObject(path.Child("objects").Index(i), content)...)
	}
	return errs
}
