package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// cacheOptions say what the cache that all reconcilers share keeps. A reconciler that needs more widens them here.
//
// Only a kind that every cluster has can stand under ByObject: its scope is looked up at once.
func cacheOptions() cache.Options {
	return cache.Options{
		DefaultTransform: slim,
		ByObject:         map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: podsNotOver()}},
	}
}

// podsNotOver selects the pods that are not over, those that wait for a node included: their bounds of the round-trip time
// are yet to be decided. Pods that are over stay in a cluster by the thousands.
func podsNotOver() fields.Selector {
	return fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	)
}

// slim takes from an object what no reconciler reads. It also gets what stands for an object whose deletion was missed,
// and passes it.
func slim(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Pod:
		slimPod(o)
	case *corev1.Node:
		slimNode(o)
	case *diskiov1alpha1.NodeDiskDevice:
		slimDevice(o)
	case *diskiov1alpha1.NodeDiskIOStats:
		slimStats(o)
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return object, nil
}

// slimPod keeps where the pod is and whether it is over, by which labels others refer to it, and what its own bounds of
// the round-trip time are.
func slimPod(pod *corev1.Pod) {
	kept := identity(&pod.ObjectMeta)
	kept.Labels = pod.Labels
	if bounds, ok := pod.Annotations[vicinityv1alpha1.DelayAnnotation]; ok {
		kept.Annotations = map[string]string{vicinityv1alpha1.DelayAnnotation: bounds}
	}
	*pod = corev1.Pod{
		TypeMeta: pod.TypeMeta, ObjectMeta: kept,
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
}

// slimNode keeps where the node is and how it is reached.
func slimNode(node *corev1.Node) {
	kept := identity(&node.ObjectMeta)
	if zone, ok := node.Labels[corev1.LabelTopologyZone]; ok {
		kept.Labels = map[string]string{corev1.LabelTopologyZone: zone}
	}
	*node = corev1.Node{
		TypeMeta: node.TypeMeta, ObjectMeta: kept, Status: corev1.NodeStatus{Addresses: node.Status.Addresses},
	}
}

// slimDevice keeps which node the object is about.
func slimDevice(device *diskiov1alpha1.NodeDiskDevice) {
	*device = diskiov1alpha1.NodeDiskDevice{
		TypeMeta: device.TypeMeta, ObjectMeta: identity(&device.ObjectMeta),
		Spec: diskiov1alpha1.NodeDiskDeviceSpec{NodeName: device.Spec.NodeName},
	}
}

// slimStats keeps what the driver is told, not what it reports.
func slimStats(stats *diskiov1alpha1.NodeDiskIOStats) {
	*stats = diskiov1alpha1.NodeDiskIOStats{TypeMeta: stats.TypeMeta, ObjectMeta: identity(&stats.ObjectMeta), Spec: stats.Spec}
}

// identity keeps of an object's metadata what tells it from others and whom it belongs to.
func identity(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences,
	}
}
