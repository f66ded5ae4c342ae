package scenario

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// object is an empty object under the reference's name, in the namespace it gets in this scenario.
func (s *session) object(r format.Reference) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(r.APIVersion)
	if r.APIVersion == "" {
		obj.SetAPIVersion("v1")
	}
	obj.SetKind(r.Kind)
	obj.SetName(r.Name)
	obj.SetNamespace(r.Namespace)
	if err := s.setNamespace(obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// setNamespace puts a namespaced object that names no namespace into the scenario's own.
func (s *session) setNamespace(obj *unstructured.Unstructured) error {
	namespaced, err := s.stack.Kube.IsObjectNamespaced(obj)
	if err != nil {
		return fmt.Errorf("looking up %s %s: %w", obj.GetAPIVersion(), obj.GetKind(), err)
	}
	switch {
	case !namespaced:
		obj.SetNamespace("")
	case obj.GetNamespace() == "":
		obj.SetNamespace(s.scenario.Namespace())
	}
	return nil
}

func durationOr(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

// unmetError says that the cluster is not as the scenario expects; any other error means that the step could not be done.
type unmetError struct {
	seen   observation
	reason string
}

func (e *unmetError) Error() string { return e.reason }

func asUnmet(err error) (*unmetError, bool) {
	var unmet *unmetError
	ok := errors.As(err, &unmet)
	return unmet, ok
}
