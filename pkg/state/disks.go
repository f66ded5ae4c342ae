package state

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// disks keeps NodeDiskDevice and NodeDiskIOStats. Objects are found by their nodeName, in any namespace and under
// any name; of two that speak of one node the last one seen counts.
//
// A node's view is built anew when one of its objects changes and is immutable, so readers may keep it.
type disks struct {
	malformed *prometheus.CounterVec

	mu        sync.RWMutex
	nodes     map[string]*blockio.Node
	devices   map[string]*diskiov1alpha1.NodeDiskDevice  // by node
	stats     map[string]*diskiov1alpha1.NodeDiskIOStats // by node
	nodeOf    map[string]string                          // by resource, namespace and name
	kinds     map[blockio.Kind]int                       // how many disks there are of each
	listeners []func(node string)
}

const (
	devicesResource = "nodediskdevices"
	statsResource   = "nodediskiostats"
)

func newDisks(malformed *prometheus.CounterVec) *disks {
	return &disks{
		malformed: malformed,
		nodes:     map[string]*blockio.Node{},
		devices:   map[string]*diskiov1alpha1.NodeDiskDevice{},
		stats:     map[string]*diskiov1alpha1.NodeDiskIOStats{},
		nodeOf:    map[string]string{},
		kinds:     map[blockio.Kind]int{},
	}
}

func (d *disks) resources() []optionalResource {
	version := diskiov1alpha1.GroupVersion()
	return []optionalResource{
		{
			resource: version.WithResource(devicesResource),
			set:      func(u *unstructured.Unstructured) { set(d, devicesResource, d.devices, u) },
			remove:   func(namespace, name string) { removeObject(d, devicesResource, d.devices, namespace, name) },
			keepSpec: true,
		},
		{
			resource: version.WithResource(statsResource),
			set:      func(u *unstructured.Unstructured) { set(d, statsResource, d.stats, u) },
			remove:   func(namespace, name string) { removeObject(d, statsResource, d.stats, namespace, name) },
			keepSpec: true,
		},
	}
}

// set reads an object. One that cannot be read, or names no node, counts as absent.
func set[T any](d *disks, resource string, objects map[string]*T, u *unstructured.Unstructured) {
	d.malformed.WithLabelValues(resource).Add(float64(dropWild(u.Object)))
	object := new(T)
	node, _, err := unstructured.NestedString(u.Object, "spec", "nodeName")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object)
	}
	if err != nil || node == "" {
		d.malformed.WithLabelValues(resource).Inc()
		removeObject(d, resource, objects, u.GetNamespace(), u.GetName())
		return
	}
	key := resource + "/" + u.GetNamespace() + "/" + u.GetName()
	d.mu.Lock()
	before := d.nodeOf[key]
	if before != "" && before != node {
		delete(objects, before)
		d.rebuildLocked(before)
	}
	d.nodeOf[key] = node
	objects[node] = object
	d.rebuildLocked(node)
	d.mu.Unlock()
	if before != "" && before != node {
		d.tell(before)
	}
	d.tell(node)
}

func removeObject[T any](d *disks, resource string, objects map[string]*T, namespace, name string) {
	key := resource + "/" + namespace + "/" + name
	d.mu.Lock()
	node, ok := d.nodeOf[key]
	if ok {
		delete(d.nodeOf, key)
		delete(objects, node)
		d.rebuildLocked(node)
	}
	d.mu.Unlock()
	if ok {
		d.tell(node)
	}
}

func (d *disks) rebuildLocked(node string) {
	if last := d.nodes[node]; last != nil {
		for i := range last.Disks {
			if d.kinds[last.Disks[i].Kind]--; d.kinds[last.Disks[i].Kind] == 0 {
				delete(d.kinds, last.Disks[i].Kind)
			}
		}
	}
	delete(d.nodes, node)
	devices := d.devices[node]
	if devices == nil {
		return // a report on disks that nobody described has no capacity to be compared with
	}
	next, faults := readNode(devices, d.stats[node])
	d.malformed.WithLabelValues(devicesResource).Add(float64(faults))
	d.nodes[node] = next
	for i := range next.Disks {
		d.kinds[next.Disks[i].Kind]++
	}
}

func (d *disks) tell(node string) {
	d.mu.RLock()
	listeners := d.listeners
	d.mu.RUnlock()
	for _, f := range listeners {
		f(node)
	}
}

// Disks returns what is known of a node's disks, or nil when nobody described them.
func (s *State) Disks(node string) *blockio.Node {
	s.disks.mu.RLock()
	defer s.disks.mu.RUnlock()
	return s.disks.nodes[node]
}

// DiskNodes returns the names of the nodes whose disks are described, in order.
func (s *State) DiskNodes() []string {
	s.disks.mu.RLock()
	defer s.disks.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.disks.nodes))
}

// DiskResources returns the custom resources that describe disks and report on them.
func (s *State) DiskResources() []schema.GroupVersionResource {
	resources := s.disks.resources()
	out := make([]schema.GroupVersionResource, len(resources))
	for i, r := range resources {
		out[i] = r.resource
	}
	return out
}

// DiskKinds returns the kinds of the disks that are known, in no order.
func (s *State) DiskKinds() []blockio.Kind {
	s.disks.mu.RLock()
	defer s.disks.mu.RUnlock()
	kinds := make([]blockio.Kind, 0, len(s.disks.kinds))
	for kind := range s.disks.kinds {
		kinds = append(kinds, kind)
	}
	return kinds
}

// OnDiskChange calls f for every node of whose disks something may have changed from now on. f must return quickly.
func (s *State) OnDiskChange(f func(node string)) {
	s.disks.mu.Lock()
	defer s.disks.mu.Unlock()
	s.disks.listeners = append(s.disks.listeners, f)
}

// observed returns when a report was made; the zero time when it does not tell.
func observed(stats *diskiov1alpha1.NodeDiskIOStats) time.Time { return stats.Status.ObservedAt.Time }
