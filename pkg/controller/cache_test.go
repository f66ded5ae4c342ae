package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

func TestTheCacheKeepsLittle(t *testing.T) {
	owners := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "u0"}}
	full := metav1.ObjectMeta{
		Namespace: "ns", Name: "name", UID: "u1", ResourceVersion: "7", Generation: 3, OwnerReferences: owners,
		Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, CreationTimestamp: metav1.NewTime(time.Unix(1, 0)),
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}, Finalizers: []string{"f"},
	}
	kept := metav1.ObjectMeta{Namespace: "ns", Name: "name", UID: "u1", ResourceVersion: "7", Generation: 3, OwnerReferences: owners}
	withBounds, keptBounds, inZone, keptZone := full, kept, full, kept
	withBounds.Annotations = map[string]string{"c": "d", "vicinity.dev/delay": "[]"}
	keptBounds.Labels, keptBounds.Annotations = full.Labels, map[string]string{"vicinity.dev/delay": "[]"}
	inZone.Labels = map[string]string{"a": "b", corev1.LabelTopologyZone: "z1"}
	keptZone.Labels = map[string]string{corev1.LabelTopologyZone: "z1"}
	bandwidth := diskiov1alpha1.IOBandwidth{Read: resource.MustParse("1Gi")}
	tests := map[string]struct{ object, want any }{
		"a pod": {
			object: &corev1.Pod{
				ObjectMeta: withBounds,
				Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
			},
			want: &corev1.Pod{ObjectMeta: keptBounds, Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		},
		"a node": {
			object: &corev1.Node{ObjectMeta: inZone, Status: corev1.NodeStatus{
				Images: []corev1.ContainerImage{{SizeBytes: 1}}, Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
			}},
			want: &corev1.Node{ObjectMeta: keptZone, Status: corev1.NodeStatus{
				Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
			}},
		},
		"disks": {
			object: &diskiov1alpha1.NodeDiskDevice{ObjectMeta: full, Spec: diskiov1alpha1.NodeDiskDeviceSpec{
				NodeName: "n1", Devices: map[string]diskiov1alpha1.DiskDevice{"sda": {Name: "sda", Capacity: bandwidth}},
			}},
			want: &diskiov1alpha1.NodeDiskDevice{ObjectMeta: kept, Spec: diskiov1alpha1.NodeDiskDeviceSpec{NodeName: "n1"}},
		},
		"a report": {
			object: &diskiov1alpha1.NodeDiskIOStats{
				ObjectMeta: full, Spec: diskiov1alpha1.NodeDiskIOStatsSpec{NodeName: "n1", ReservedPods: []string{"u"}},
				Status: diskiov1alpha1.NodeDiskIOStatsStatus{AllocableBandwidth: map[string]diskiov1alpha1.IOBandwidth{"sda": bandwidth}},
			},
			want: &diskiov1alpha1.NodeDiskIOStats{
				ObjectMeta: kept, Spec: diskiov1alpha1.NodeDiskIOStatsSpec{NodeName: "n1", ReservedPods: []string{"u"}},
			},
		},
		"anything else, but for managedFields": {
			object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", ManagedFields: full.ManagedFields}, Data: map[string]string{"k": "v"}},
			want:   &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"k": "v"}},
		},
		"what stands for a missed deletion": {
			object: cache.DeletedFinalStateUnknown{Key: "ns/name"}, want: cache.DeletedFinalStateUnknown{Key: "ns/name"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := slim(tt.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("slim() (-want +got):\n%s", diff)
			}
		})
	}
}
