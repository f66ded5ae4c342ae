package state

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// optionalResource is a custom resource that may or may not be installed.
type optionalResource struct {
	resource schema.GroupVersionResource
	// set and remove are called one at a time for each resource. removed gets every object when the resource's
	// definition goes away.
	set    func(*unstructured.Unstructured)
	remove func(namespace, name string)
	// keepSpec keeps the objects' specs in memory, which most resources are not read for.
	keepSpec bool
}

// definition is the name of the resource's CustomResourceDefinition.
func (r optionalResource) definition() string { return r.resource.Resource + "." + r.resource.Group }

// optionalResources runs an informer for each resource whose definition exists.
type optionalResources struct {
	dynamic     dynamic.Interface
	definitions cache.SharedIndexInformer
	resources   map[string]optionalResource // by definition

	mu      sync.Mutex
	running map[string]*watch // by definition
}

// watch is one running informer.
type watch struct {
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
	cancel   context.CancelFunc
	done     chan struct{}
}

func newOptionalResources(d dynamic.Interface, m metadata.Interface, resources []optionalResource) *optionalResources {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	o := &optionalResources{
		dynamic:     d,
		definitions: metadatainformer.NewFilteredMetadataInformer(m, crds, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer(),
		resources:   map[string]optionalResource{},
		running:     map[string]*watch{},
	}
	for _, r := range resources {
		o.resources[r.definition()] = r
	}
	return o
}

// run returns after ctx has ended and every informer has stopped.
func (o *optionalResources) run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	if err := o.definitions.SetWatchErrorHandlerWithContext(watchErrorHandler("customresourcedefinitions")); err != nil {
		logger.Error(err, "Watch errors of custom resource definitions will have client-go's wording")
	}
	_, err := o.definitions.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { o.installed(ctx, obj) },
		DeleteFunc: func(obj any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				o.uninstalled(ctx, key)
			}
		},
	})
	if err != nil {
		logger.Error(err, "Custom resource definitions cannot be watched; no custom resource will be seen")
		return
	}
	o.definitions.RunWithContext(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.running {
		<-w.done
	}
}

func (o *optionalResources) installed(ctx context.Context, obj any) {
	definition, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return
	}
	r, wanted := o.resources[definition]
	if !wanted {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.running[definition]; ok || ctx.Err() != nil {
		return
	}
	w, err := o.start(ctx, r)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Optional resource cannot be watched", "resource", definition)
		return
	}
	klog.FromContext(ctx).V(2).Info("Optional resource is installed; watching it", "resource", definition)
	o.running[definition] = w
}

func (o *optionalResources) uninstalled(ctx context.Context, definition string) {
	o.mu.Lock()
	w := o.running[definition]
	delete(o.running, definition)
	o.mu.Unlock()
	if w == nil {
		return
	}
	w.cancel()
	<-w.done
	// The definition goes last when it is removed, but a watch that broke off may not have told of every object.
	for _, key := range w.informer.GetStore().ListKeys() {
		if namespace, name, err := cache.SplitMetaNamespaceKey(key); err == nil {
			o.resources[definition].remove(namespace, name)
		}
	}
	klog.FromContext(ctx).V(2).Info("Optional resource was removed", "resource", definition)
}

func (o *optionalResources) start(ctx context.Context, r optionalResource) (*watch, error) {
	informer := dynamicinformer.NewFilteredDynamicInformer(o.dynamic, r.resource, metav1.NamespaceAll, 0,
		cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(dropUnread(r.keepSpec)); err != nil {
		return nil, fmt.Errorf("transform: %w", err)
	}
	if err := informer.SetWatchErrorHandlerWithContext(watchErrorHandler(r.definition())); err != nil {
		return nil, fmt.Errorf("watch error handler: %w", err)
	}
	set := func(obj any) {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			r.set(u)
		}
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, obj any) { set(obj) },
		DeleteFunc: func(obj any) {
			if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
				r.remove(key.Namespace, key.Name)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("event handler: %w", err)
	}
	watchCtx, cancel := context.WithCancel(ctx)
	w := &watch{informer: informer, handler: handler, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer cancel()
		informer.RunWithContext(watchCtx)
	}()
	return w, nil
}

// dropUnread frees what nothing here reads; the specs of datasets hold credentials' names and mount options.
func dropUnread(keepSpec bool) cache.TransformFunc {
	return func(obj any) (any, error) {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			u.SetManagedFields(nil)
			if !keepSpec {
				unstructured.RemoveNestedField(u.Object, "spec")
			}
		}
		return obj, nil
	}
}

// watchErrorHandler says what to do about the commonest cause, a missing permission. The reflector retries with
// its own back-off.
func watchErrorHandler(resource string) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, _ *cache.Reflector, err error) {
		klog.FromContext(ctx).V(1).Info("Watch ended; it is retried. If it is forbidden, grant get, list and watch",
			"resource", resource, "reason", err.Error())
	}
}

// syncPoll is how often waitForSync looks. Informers have no channel to wait on that also covers informers that
// start meanwhile.
const syncPoll = 20 * time.Millisecond

func (o *optionalResources) waitForSync(ctx context.Context) error {
	ticker := time.NewTicker(syncPoll)
	defer ticker.Stop()
	for !o.synced() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("custom resources were not all listed: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
	return nil
}

func (o *optionalResources) synced() bool {
	if !o.definitions.HasSynced() {
		return false
	}
	installed := map[string]bool{}
	for _, definition := range o.definitions.GetStore().ListKeys() {
		if _, wanted := o.resources[definition]; wanted {
			installed[definition] = true
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for definition := range installed {
		w := o.running[definition]
		// The informer has listed before its handler has been given all of the list.
		if w == nil || !w.handler.HasSynced() {
			return false
		}
	}
	return true
}
