package state

import (
	"fmt"
	"sync"

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
	metrics *metrics
	changed func(locality.DatasetKey)

	mu       sync.RWMutex
	datasets map[locality.DatasetKey]*datashimDataset
}

// datashimDataset is what the groups say of one dataset, indexed like datashimGroups.
type datashimDataset struct {
	byGroup [2]struct {
		status    *datashimStatus     // nil: no Dataset object
		placement *locality.Placement // nil: no DatasetInternal object
	}
}

func newDatashim(m *metrics, changed func(locality.DatasetKey)) *datashim {
	return &datashim{metrics: m, changed: changed, datasets: map[locality.DatasetKey]*datashimDataset{}}
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
		d.metrics.malformed.WithLabelValues("datasets").Inc()
		status = datashimStatus{} // an unreadable status is no permission to use the cache
	}
	d.update(u.GetNamespace(), u.GetName(), func(s *datashimDataset) { s.byGroup[group].status = &status })
}

func (d *datashim) setPlacement(group int, u *unstructured.Unstructured) {
	placement, faults := decodeDatashimPlacement(u)
	d.metrics.malformed.WithLabelValues("datasetsinternal").Add(float64(faults))
	d.update(u.GetNamespace(), u.GetName(), func(s *datashimDataset) { s.byGroup[group].placement = &placement })
}

func (d *datashim) update(namespace, name string, change func(*datashimDataset)) {
	key := locality.DatasetKey{Namespace: namespace, Name: name}
	d.mu.Lock()
	next := datashimDataset{} // readers may hold the old one
	if old := d.datasets[key]; old != nil {
		next = *old
	}
	change(&next)
	if next == (datashimDataset{}) {
		delete(d.datasets, key)
	} else {
		d.datasets[key] = &next
	}
	d.mu.Unlock()
	d.changed(key)
}

func (d *datashim) get(key locality.DatasetKey) *datashimDataset {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.datasets[key]
}

func (d *datashim) known(key locality.DatasetKey) bool { return d.get(key) != nil }

// placement returns the first group's usable one. A DatasetInternal without a Dataset counts: then nothing says
// that its cache is unusable.
func (d *datashim) placement(key locality.DatasetKey) locality.Placement {
	dataset := d.get(key)
	if dataset == nil {
		return locality.Placement{}
	}
	for _, g := range dataset.byGroup {
		if g.placement != nil && len(g.placement.Serving()) > 0 && (g.status == nil || g.status.usable()) {
			return *g.placement
		}
	}
	return locality.Placement{}
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
