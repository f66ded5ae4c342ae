package localstack

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/test/crds"
)

// crdTimeout is how long a CRD may take until the API server serves its objects, or until it is gone.
const crdTimeout = time.Minute

// ForeignCRDSets are the names of the sets of other projects' CRDs that can be installed.
func ForeignCRDSets() ([]string, error) {
	entries, err := fs.ReadDir(crds.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("listing the embedded CRDs: %w", err)
	}
	var sets []string
	for _, entry := range entries {
		if entry.IsDir() {
			sets = append(sets, entry.Name())
		}
	}
	return sets, nil
}

func foreignCRDs(sets []string) ([]*unstructured.Unstructured, error) {
	known, err := ForeignCRDSets()
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, set := range sets {
		if !slices.Contains(known, set) {
			return nil, fmt.Errorf("unknown set of CRDs %q; want one of %q", set, known)
		}
		found, err := decodeFolder(crds.FS(), set)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// InstallCRDs applies sets of other projects' CRDs and waits until the API server serves their objects.
func (s *Stack) InstallCRDs(ctx context.Context, sets ...string) error {
	objects, err := foreignCRDs(sets)
	if err != nil {
		return err
	}
	return s.applyCRDs(ctx, objects)
}

// RemoveCRDs deletes sets of other projects' CRDs, with all their objects, and waits until they are gone.
func (s *Stack) RemoveCRDs(ctx context.Context, sets ...string) error {
	objects, err := foreignCRDs(sets)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if err := client.IgnoreNotFound(s.Kube.Delete(ctx, obj)); err != nil {
			return fmt.Errorf("deleting %s: %w", describe(obj), err)
		}
	}
	for _, obj := range objects {
		if err := s.WaitGone(ctx, obj, crdTimeout); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stack) applyCRDs(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, obj := range objects {
		if err := s.Apply(ctx, obj); err != nil {
			return err
		}
	}
	for _, obj := range objects {
		if err := s.waitServed(ctx, obj.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// waitServed waits until a list of the CRD's objects works: Established comes earlier than discovery and the handler.
func (s *Stack) waitServed(ctx context.Context, name string) error {
	last := "it is not established"
	err := wait.PollUntilContextTimeout(ctx, pollInterval, crdTimeout, true, func(ctx context.Context) (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := s.Kube.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		if !established(crd) {
			return false, nil
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: crd.Spec.Group, Version: servedVersion(crd), Kind: crd.Spec.Names.ListKind,
		})
		err := s.Kube.List(ctx, list, client.Limit(1))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			last = err.Error()
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the API server to serve %s: %w (%s)", name, err, last)
	}
	return nil
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

func servedVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range crd.Spec.Versions {
		if version.Served {
			return version.Name
		}
	}
	return ""
}

// WaitGone waits until the API server no longer has obj.
func (s *Stack) WaitGone(ctx context.Context, obj client.Object, timeout time.Duration) error {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	uid := obj.GetUID()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		err := s.Kube.Get(ctx, client.ObjectKeyFromObject(obj), found)
		switch {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			return true, nil
		case err != nil:
			return false, err
		}
		return uid != "" && found.GetUID() != uid, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s to be gone (finalizers %q): %w", describe(obj), found.GetFinalizers(), err)
	}
	return nil
}
