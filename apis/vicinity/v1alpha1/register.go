package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// GroupName is the API group of Vicinity's own kinds.
	GroupName = "vicinity.dev"
	// Version is the version of the kinds in this package.
	Version = "v1alpha1"
)

// GroupVersion is what stands under apiVersion: vicinity.dev/v1alpha1.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: Version}
}

// AddToScheme registers the kinds of this package. It never fails; the error is for runtime.SchemeBuilder, which
// collects functions of this form.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(),
		&BackupReservation{}, &BackupReservationList{},
		&NodeDatasetCache{}, &NodeDatasetCacheList{},
		&NodeRTT{}, &NodeRTTList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
