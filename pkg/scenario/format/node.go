package format

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Node is a fake node in short form.
type Node struct {
	// Name is also the node's hostname label.
	Name string `json:"name"`
	// Zone, Region and Rack become topology labels; empty means no label.
	Zone   string `json:"zone"`
	Region string `json:"region"`
	Rack   string `json:"rack"`
	// CPU, Memory and Pods are what pods can ask for; 8, 32Gi and 110 when absent.
	CPU    *resource.Quantity `json:"cpu"`
	Memory *resource.Quantity `json:"memory"`
	Pods   *resource.Quantity `json:"pods"`
	// Resources are further, extended resources.
	Resources map[string]resource.Quantity `json:"resources"`
	// Labels and Annotations are set as they are.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	// Taints keep pods away that do not tolerate them.
	Taints []Taint `json:"taints"`
	// Unschedulable cordons the node.
	Unschedulable bool `json:"unschedulable"`
}

// Taint is a node's taint.
type Taint struct {
	// Key and Value name the taint; the value may be empty.
	Key   string `json:"key"`
	Value string `json:"value"`
	// Effect is NoSchedule, PreferNoSchedule or NoExecute.
	Effect string `json:"effect"`
}

func validateNodes(path *field.Path, nodes []Node) field.ErrorList {
	var errs field.ErrorList
	names, effects := map[string]bool{}, []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	for i := range nodes {
		switch at, name := path.Index(i).Child("name"), nodes[i].Name; {
		case name == "":
			errs = append(errs, field.Required(at, "the node's name"))
		case names[name]:
			errs = append(errs, field.Duplicate(at, name))
		default:
			names[name] = true
		}
		for j, taint := range nodes[i].Taints {
			at := path.Index(i).Child("taints").Index(j)
			if taint.Key == "" {
				errs = append(errs, field.Required(at.Child("key"), "the taint's key"))
			}
			if !slices.Contains(effects, taint.Effect) {
				errs = append(errs, field.NotSupported(at.Child("effect"), taint.Effect, effects))
			}
		}
	}
	return errs
}
