package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// GroupName is the API group of the disk kinds.
	GroupName = "diskio.x-k8s.io"
	// Version is the version of the kinds in this package.
	Version = "v1alpha1"
)

// GroupVersion is what stands under apiVersion: diskio.x-k8s.io/v1alpha1.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: Version}
}

// AddToScheme registers the kinds of this package. It never fails; the error is for runtime.SchemeBuilder, which
// collects functions of this form.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(),
		&NodeDiskDevice{}, &NodeDiskDeviceList{},
		&NodeDiskIOStats{}, &NodeDiskIOStatsList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
