package state

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datashimGroups are the API groups of Datashim's kinds, in order of precedence: the present one, and the one it
// had until January 2024. Objects are not converted between them, so a cluster may hold both.
func datashimGroups() []string { return []string{"datashim.io", "com.ie.ibm.hpsys"} }

// datashim keeps Datashim's Dataset (which carries the status) and DatasetInternal (which carries the placement,
// under the same name) of each group.
type datashim struct {
	malformed *prometheus.CounterVec
	changed   func(locality.DatasetKey)

	mu       sync.RWMutex
	datasets map[locality.DatasetKey]*datashimDataset
	places   map[locality.Location]int // how many placements name the place
}

// datashimDataset is what the groups say of one dataset, indexed like datashimGroups.
type datashimDataset struct {
	byGroup [2]struct {
		status    *datashimStatus    // nil: no Dataset object
		placement *datashimPlacement // nil: no DatasetInternal object
	}
}

func newDatashim(malformed *prometheus.CounterVec, changed func(locality.DatasetKey)) *datashim {
	return &datashim{
		malformed: malformed, changed: changed, datasets: map[locality.DatasetKey]*datashimDataset{},
		places: map[locality.Location]int{},
	}
}

func (d *datashim) resources() []optionalResource {
	var out []optionalResource
	for i, group := range datashimGroups() {
		version := schema.GroupVersion{Group: group, Version: "v1alpha1"}
		out = append(out, optionalResource{
			resource: version.WithResource("datasets"),
			set:      func(u *unstructured.Unstructured) { d.setStatus(i, u) },
			remove: func(namespace, name string) {
				d.update(namespace, name, func(s *datashimDataset) { s.byGroup[i].status = nil })
			},
		}, optionalResource{
			resource: version.WithResource("datasetsinternal"),
			set:      func(u *unstructured.Unstructured) { d.setPlacement(i, u) },
			remove: func(namespace, name string) {
				d.update(namespace, name, func(s *datashimDataset) { s.byGroup[i].placement = nil })
			},
		})
	}
	return out
}

func (d *datashim) setStatus(group int, u *unstructured.Unstructured) {
	status, err := decodeDatashimStatus(u)
	if err != nil {
		d.malformed.WithLabelValues("datasets").Inc()
		status = datashimStatus{} // an unreadable status is no permission to use the cache
	}
	d.update(u.GetNamespace(), u.GetName(), func(s *datashimDataset) { s.byGroup[group].status = &status })
}

func (d *datashim) setPlacement(group int, u *unstructured.Unstructured) {
	placement, faults := decodeDatashimPlacement(u)
	d.malformed.WithLabelValues("datasetsinternal").Add(float64(faults))
	d.update(u.GetNamespace(), u.GetName(), func(s *datashimDataset) { s.byGroup[group].placement = &placement })
}

func (d *datashim) update(namespace, name string, change func(*datashimDataset)) {
	key := locality.DatasetKey{Namespace: namespace, Name: name}
	d.mu.Lock()
	next := datashimDataset{} // readers may hold the old one
	if old := d.datasets[key]; old != nil {
		next = *old
	}
	d.countPlaces(&next, -1)
	change(&next)
	d.countPlaces(&next, 1)
	if next == (datashimDataset{}) {
		delete(d.datasets, key)
	} else {
		d.datasets[key] = &next
	}
	d.mu.Unlock()
	d.changed(key)
}

// countPlaces adds a dataset's placements to the count of places, or takes them out of it.
func (d *datashim) countPlaces(dataset *datashimDataset, sign int) {
	for _, g := range dataset.byGroup {
		if g.placement == nil {
			continue
		}
		for _, at := range slices.Concat(g.placement.gateways, g.placement.dataLocations) {
			if d.places[at] += sign; d.places[at] == 0 {
				delete(d.places, at)
			}
		}
	}
}

func (d *datashim) holdsData(node locality.Node) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	host := node.Labels[locality.HostnameKey]
	return d.places[locality.OnNode(node.Name)] > 0 || d.places[locality.OnNode(host)] > 0
}

func (d *datashim) get(key locality.DatasetKey) *datashimDataset {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.datasets[key]
}

func (d *datashim) known(key locality.DatasetKey) bool { return d.get(key) != nil }

func (d *datashim) keys() []locality.DatasetKey {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Collect(maps.Keys(d.datasets))
}

// dataset returns the first group's usable placement. A DatasetInternal without a Dataset counts: then nothing
// says that its cache is unusable.
func (d *datashim) dataset(key locality.DatasetKey) locality.Dataset {
	dataset := d.get(key)
	if dataset == nil {
		return locality.Dataset{}
	}
	for _, g := range dataset.byGroup {
		if g.placement != nil && (g.status == nil || g.status.usable()) {
			if replicas := g.placement.replicas(); len(replicas) > 0 {
				return locality.Dataset{Replicas: replicas}
			}
		}
	}
	return locality.Dataset{}
}

// datashimStatus is the part of a Dataset's status that decides whether its cache can be used.
type datashimStatus struct {
	Caching   datashimPhase `json:"caching"`
	Provision datashimPhase `json:"provision"`
}

type datashimPhase struct {
	Status string `json:"status"`
}

// usable: the dataset is provisioned and its caching is OK, or Pending: the only caching plugin that Datashim
// ships leaves it Pending for ever. Initializing, Disabled, Failed, "" and unknown states are not usable.
func (s datashimStatus) usable() bool {
	return s.Provision.Status == "OK" && (s.Caching.Status == "OK" || s.Caching.Status == "Pending")
}

func decodeDatashimStatus(u *unstructured.Unstructured) (datashimStatus, error) {
	var object struct {
		Status datashimStatus `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &object); err != nil {
		return datashimStatus{}, fmt.Errorf("status of %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return object.Status, nil
}
