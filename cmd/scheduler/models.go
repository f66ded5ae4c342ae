package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/diskmodel"
)

// namespaceVariable names the namespace that the scheduler runs in, where the ConfigMap is looked for.
const namespaceVariable, defaultNamespace = "POD_NAMESPACE", "vicinity-system"

// diskModels has the models of disks that plugin DiskIO uses, in all profiles.
type diskModels struct {
	path   string
	loader *diskmodel.Loader

	mu        sync.Mutex
	listeners []func()
}

// startDiskModels loads models from path and from the ConfigMap, and keeps them up to date until ctx ends.
func startDiskModels(ctx context.Context, path string, client kubernetes.Interface) (*diskModels, error) {
	m := &diskModels{path: path}
	loader, err := diskmodel.NewLoader(diskmodel.Options{Path: path, Changed: m.changed}, registry{})
	if err != nil {
		return nil, fmt.Errorf("models of disks: %w", err)
	}
	m.loader = loader
	if err := m.watchVendors(ctx, client); err != nil {
		return nil, fmt.Errorf("models of disks: %w", err)
	}
	go loader.Run(ctx)
	return m, nil
}

func (m *diskModels) watchVendors(ctx context.Context, client kubernetes.Interface) error {
	namespace := schedulerNamespace()
	informer := coreinformers.NewFilteredConfigMapInformer(client, namespace, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, diskmodel.VendorsConfigMap).String()
	})
	set := func(text string) {
		if err := m.loader.SetVendors(text); err != nil {
			klog.FromContext(ctx).Error(err, "List of disk models has faults; what is right in it is used",
				"configMap", klog.KRef(namespace, diskmodel.VendorsConfigMap), "key", diskmodel.VendorsKey)
		}
	}
	use := func(obj any) {
		if configMap, ok := obj.(*corev1.ConfigMap); ok {
			set(configMap.Data[diskmodel.VendorsKey])
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: use, UpdateFunc: func(_, obj any) { use(obj) }, DeleteFunc: func(any) { set("") },
	})
	if err != nil {
		return fmt.Errorf("watching ConfigMap %s/%s: %w", namespace, diskmodel.VendorsConfigMap, err)
	}
	go informer.RunWithContext(ctx)
	return nil
}

// Model implements diskio.Models.
func (m *diskModels) Model(kind blockio.Kind) blockio.Model {
	model, _ := m.loader.Snapshot().Model(kind.Vendor, kind.Model)
	return model
}

// Known implements diskio.ChangingModels.
func (m *diskModels) Known(kind blockio.Kind) bool {
	_, known := m.loader.Snapshot().Model(kind.Vendor, kind.Model)
	return known
}

// Generation implements diskio.Models.
func (m *diskModels) Generation() uint64 { return m.loader.Snapshot().Generation() }

// OnModelChange implements diskio.Models.
func (m *diskModels) OnModelChange(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, f)
}

func (m *diskModels) changed() {
	m.mu.Lock()
	listeners := m.listeners
	m.mu.Unlock()
	for _, f := range listeners {
		f()
	}
}
