package diskiostats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

const (
	// nameSuffix follows the node's name in the name of its NodeDiskIOStats, as with the predecessor.
	nameSuffix = "-nodediskiostats"
	// maxPods is how many pods reservedPods may name; the CRD holds the same number.
	maxPods = 4096
	// fieldManager owns what is applied.
	fieldManager = "vicinity-controller"
)

// reconciler works on one node at a time; the request's name is the node's.
type reconciler struct {
	client client.Client
}

// Reconcile makes the node's NodeDiskIOStats what they should be.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := request.Name
	var devices diskiov1alpha1.NodeDiskDeviceList
	var stats diskiov1alpha1.NodeDiskIOStatsList
	ofNode := client.MatchingFields{nodeField: node}
	if err := errors.Join(r.client.List(ctx, &devices, ofNode), r.client.List(ctx, &stats, ofNode)); err != nil {
		return reconcile.Result{}, fmt.Errorf("reading the disks of node %s: %w", node, err)
	}
	described := map[string]bool{} // the namespaces with a NodeDiskDevice of the node
	for i := range devices.Items {
		described[devices.Items[i].Namespace] = true
	}
	var errs []error
	current := map[string]*diskiov1alpha1.NodeDiskIOStats{} // by namespace
	for i := range stats.Items {
		switch s := &stats.Items[i]; {
		case s.Name != node+nameSuffix: // somebody else's
		case !described[s.Namespace]:
			errs = append(errs, r.remove(ctx, s))
		default:
			current[s.Namespace] = s
		}
	}
	if len(described) > 0 {
		errs = append(errs, r.keep(ctx, node, described, current))
	}
	return reconcile.Result{}, errors.Join(errs...)
}

// remove deletes an object whose NodeDiskDevice is gone; not one that took its place since.
func (r *reconciler) remove(ctx context.Context, stats *diskiov1alpha1.NodeDiskIOStats) error {
	err := r.client.Delete(ctx, stats, client.Preconditions{UID: &stats.UID})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("deleting NodeDiskIOStats %s, whose NodeDiskDevice is gone: %w", klog.KObj(stats), err)
	}
	klog.FromContext(ctx).Info("Deleted NodeDiskIOStats: its NodeDiskDevice is gone", "nodeDiskIOStats", klog.KObj(stats))
	return nil
}

// keep writes the node's object in each namespace where it differs from what it should be.
func (r *reconciler) keep(ctx context.Context, node string, described map[string]bool,
	current map[string]*diskiov1alpha1.NodeDiskIOStats,
) error {
	var owner corev1.Node
	err := r.client.Get(ctx, client.ObjectKey{Name: node}, &owner)
	if apierrors.IsNotFound(err) {
		return nil // the garbage collector deletes what the Node owned
	}
	if err != nil {
		return fmt.Errorf("reading node %s: %w", node, err)
	}
	if faults := validation.IsDNS1123Subdomain(node + nameSuffix); len(faults) > 0 {
		return reconcile.TerminalError(fmt.Errorf("node %s: there can be no NodeDiskIOStats %s%s: %v", node, node, nameSuffix, faults))
	}
	pods, err := r.podsOn(ctx, node)
	if err != nil {
		return err
	}
	var errs []error
	for namespace := range described {
		if upToDate(current[namespace], owner.UID, pods) {
			continue
		}
		if err := r.client.Apply(ctx, desired(namespace, &owner, pods), client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			errs = append(errs, fmt.Errorf("applying NodeDiskIOStats %s/%s%s: %w", namespace, node, nameSuffix, err))
			continue
		}
		klog.FromContext(ctx).V(4).Info("Applied NodeDiskIOStats", "nodeDiskIOStats", klog.KRef(namespace, node+nameSuffix), "pods", len(pods))
	}
	return errors.Join(errs...)
}

// podsOn returns the UIDs of the node's pods that are not over, in order, at most maxPods.
func (r *reconciler) podsOn(ctx context.Context, node string) ([]string, error) {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, client.MatchingFields{nodeField: node}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading the pods on node %s: %w", node, err)
	}
	uids := make([]string, 0, len(pods.Items))
	for i := range pods.Items {
		if !over(&pods.Items[i]) {
			uids = append(uids, string(pods.Items[i].UID))
		}
	}
	slices.Sort(uids)
	return uids[:min(len(uids), maxPods)], nil
}

func upToDate(current *diskiov1alpha1.NodeDiskIOStats, owner types.UID, pods []string) bool {
	return current != nil && slices.Equal(current.Spec.ReservedPods, pods) &&
		slices.ContainsFunc(current.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner })
}

// desired is what is applied. An empty list is written as one: were it left out, a list of another writer would stay.
func desired(namespace string, node *corev1.Node, pods []string) runtime.ApplyConfiguration {
	uids := make([]any, len(pods))
	for i, uid := range pods {
		uids[i] = uid
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"nodeName": node.Name, "reservedPods": uids},
	}}
	u.SetGroupVersionKind(diskiov1alpha1.GroupVersion().WithKind("NodeDiskIOStats"))
	u.SetNamespace(namespace)
	u.SetName(node.Name + nameSuffix)
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}})
	return client.ApplyConfigurationFromUnstructured(u)
}
