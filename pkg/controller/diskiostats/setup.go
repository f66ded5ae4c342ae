package diskiostats

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

const (
	// controllerName is the reconciler's name in logs and metrics.
	controllerName = "diskiostats"
	// workers is how many nodes are worked on at once: each waits for the API server most of the time.
	workers = 4
	// nodeField is the index on the node that an object is about or a pod is on.
	nodeField = "spec.nodeName"
)

// Setup adds the reconciler to the manager.
func Setup(ctx context.Context, m manager.Manager) error {
	for _, object := range []client.Object{&corev1.Pod{}, &diskiov1alpha1.NodeDiskDevice{}, &diskiov1alpha1.NodeDiskIOStats{}} {
		if err := m.GetFieldIndexer().IndexField(ctx, object, nodeField, nodeNames); err != nil {
			return cannotIndex(object, err)
		}
	}
	r := &reconciler{client: m.GetClient()}
	err := builder.ControllerManagedBy(m).
		Named(controllerName).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Watches(&corev1.Pod{}, onChange(samePod)).
		Watches(&diskiov1alpha1.NodeDiskDevice{}, onChange(sameNode)).
		Watches(&diskiov1alpha1.NodeDiskIOStats{}, onChange(sameSpec)).
		Watches(&corev1.Node{}, onChange(sameNode)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("reconciler %s: %w", controllerName, err)
	}
	return nil
}

func cannotIndex(object client.Object, err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("reconciler %s: the cluster lacks a CRD, apply those of Vicinity (manifests/chart/crds): %w", controllerName, err)
	}
	return fmt.Errorf("reconciler %s: cannot index %T: %w", controllerName, object, err)
}

// nodeNames is the index function.
func nodeNames(object client.Object) []string {
	if name := nodeName(object); name != "" {
		return []string{name}
	}
	return nil
}

// nodeName returns the name of the node that the object is about, "" for none.
func nodeName(object client.Object) string {
	switch o := object.(type) {
	case *corev1.Pod:
		return o.Spec.NodeName
	case *diskiov1alpha1.NodeDiskDevice:
		return o.Spec.NodeName
	case *diskiov1alpha1.NodeDiskIOStats:
		return o.Spec.NodeName
	default: // a Node
		return object.GetName()
	}
}
