package state

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// Fluid's marks on nodes. "<ns>-<dataset>" follows each prefix, or the Dataset's UID where the whole key would have
// 63 characters or more.
const (
	fluidWorkerPrefix   = "fluid.io/s-"   // a cache worker of the dataset runs here
	fluidClientPrefix   = "fluid.io/f-"   // a client (FUSE) of the dataset runs here
	fluidCapacityPrefix = "fluid.io/s-h-" // then "<runtime>-{m|d|t}-": what the worker may use; total, of no medium, is t
	fluidMark           = "true"
	fluidKeyLimit       = 63
)

// fluid reads Fluid's Dataset objects. Where a dataset's workers are stands in labels on nodes; they are looked up
// when a pod asks, through the index of the node informer, so that nothing is kept twice.
type fluid struct {
	nodes     *Nodes
	malformed *prometheus.CounterVec
	changed   func(locality.DatasetKey)

	mu       sync.RWMutex
	datasets map[locality.DatasetKey]fluidDataset
}

// fluidDataset is the part of a Dataset that is looked at. cached is what all workers hold together.
type fluidDataset struct {
	uid    string
	usable bool
	size   quantity
	cached quantity
}

func newFluid(nodes *Nodes, malformed *prometheus.CounterVec, changed func(locality.DatasetKey)) *fluid {
	return &fluid{nodes: nodes, malformed: malformed, changed: changed, datasets: map[locality.DatasetKey]fluidDataset{}}
}

func (f *fluid) resources() []optionalResource {
	return []optionalResource{{
		resource: schema.GroupVersionResource{Group: "data.fluid.io", Version: "v1alpha1", Resource: "datasets"},
		set:      f.set,
		remove: func(namespace, name string) {
			key := locality.DatasetKey{Namespace: namespace, Name: name}
			f.mu.Lock()
			delete(f.datasets, key)
			f.mu.Unlock()
			f.changed(key)
		},
	}}
}

// fluidObject has the JSON names of Fluid's Dataset.
type fluidObject struct {
	Status struct {
		Phase       string            `json:"phase"`
		UFSTotal    string            `json:"ufsTotal"`
		CacheStates map[string]string `json:"cacheStates"`
	} `json:"status"`
}

func (f *fluid) set(u *unstructured.Unstructured) {
	key := locality.DatasetKey{Namespace: u.GetNamespace(), Name: u.GetName()}
	next, ok := readFluid(u)
	if !ok {
		f.malformed.WithLabelValues("datasets.data.fluid.io").Inc()
	}
	f.mu.Lock()
	last, had := f.datasets[key]
	f.datasets[key] = next
	f.mu.Unlock()
	if !had || last != next {
		f.changed(key)
	}
}

// readFluid returns an unusable dataset and false when the object cannot be read.
func readFluid(u *unstructured.Unstructured) (fluidDataset, bool) {
	out := fluidDataset{uid: string(u.GetUID())}
	var object fluidObject
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &object); err != nil {
		return out, false
	}
	// In these phases the dataset has a runtime whose workers serve it; in the others ("", Pending, Failed,
	// NotBound) labels may be left over.
	out.usable = slices.Contains([]string{"Bound", "Updating", "DataMigrating"}, object.Status.Phase)
	out.size = parseQuantity(object.Status.UFSTotal)
	out.cached = parseQuantity(object.Status.CacheStates["cached"])
	return out, true
}

func (f *fluid) get(key locality.DatasetKey) (fluidDataset, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d, ok := f.datasets[key]
	return d, ok
}

func (f *fluid) known(key locality.DatasetKey) bool {
	_, ok := f.get(key)
	return ok
}

func (f *fluid) keys() []locality.DatasetKey {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Collect(maps.Keys(f.datasets))
}

func (f *fluid) holdsData(node locality.Node) bool {
	for label := range node.Labels {
		if strings.HasPrefix(label, fluidWorkerPrefix) {
			return true
		}
	}
	return false
}

// dataset trusts the labels where no Dataset object is known, as when Fluid's definitions may not be read.
func (f *fluid) dataset(key locality.DatasetKey) locality.Dataset {
	info, ok := f.get(key)
	if ok && !info.usable {
		return locality.Dataset{}
	}
	name := fluidName(key, info.uid)
	out := locality.Dataset{Replicas: f.workers(name, capacityNames(key, info.uid), info.cached)}
	if info.size.known {
		out.SizeBytes = info.size.bytes
	}
	if len(out.Replicas) == 0 {
		// Without workers the clients fetch for themselves; near them the data is in use already.
		out.Replicas = f.marked(fluidClientPrefix + name)
		for i := range out.Replicas {
			out.Replicas[i].Gateway = true
		}
	}
	return out
}

// fluidName is how label keys name the dataset.
func fluidName(key locality.DatasetKey, uid string) string {
	name := key.Namespace + "-" + key.Name
	if uid != "" && len(fluidWorkerPrefix+name) >= fluidKeyLimit {
		return uid
	}
	return name
}

// capacityNames are the forms in which a capacity label may name the dataset. Its key is longer than a worker's,
// by a part that depends on the runtime, so the UID stands in it sooner.
func capacityNames(key locality.DatasetKey, uid string) []string {
	names := []string{key.Namespace + "-" + key.Name}
	if uid != "" {
		names = append(names, uid)
	}
	return names
}

func (f *fluid) marked(label string) []locality.Replica {
	var out []locality.Replica
	for _, obj := range f.nodes.at(locality.Location{Key: label, Value: fluidMark}) {
		if node, ok := obj.(*corev1.Node); ok {
			out = append(out, locality.Replica{At: locality.OnNode(node.Name), Source: string(configv1.SourceFluid)})
		}
	}
	return out
}

// workers returns a replica for each worker, or for each medium of it. Fluid tells only what all workers hold
// together, and what each one may hold: the bytes are taken to be spread like the capacities.
func (f *fluid) workers(name string, inCapacities []string, cached quantity) []locality.Replica {
	var out []locality.Replica
	var capacities []float64
	total := 0.0
	for _, obj := range f.nodes.at(locality.Location{Key: fluidWorkerPrefix + name, Value: fluidMark}) {
		node, ok := obj.(*corev1.Node)
		if !ok {
			continue
		}
		replica := locality.Replica{At: locality.OnNode(node.Name), Source: string(configv1.SourceFluid)}
		found := capacitiesOf(node, inCapacities)
		if len(found) == 0 {
			out, capacities = append(out, replica), append(capacities, 0)
		}
		for _, c := range found {
			replica.Medium = c.medium
			out, capacities = append(out, replica), append(capacities, c.bytes)
			total += c.bytes
		}
	}
	if cached.known && total > 0 {
		for i := range out {
			if capacities[i] > 0 {
				out[i].Bytes, out[i].BytesKnown = int64(float64(cached.bytes)*capacities[i]/total), true
			}
		}
	}
	return out
}

type fluidCapacity struct {
	medium locality.Medium
	bytes  float64
}

func capacitiesOf(node *corev1.Node, names []string) []fluidCapacity {
	var out []fluidCapacity
	for label, value := range node.Labels {
		rest, ok := strings.CutPrefix(label, fluidCapacityPrefix)
		if !ok {
			continue
		}
		medium, ok := mediumOfCapacity(rest, names)
		if q := parseQuantity(value); ok && q.known && q.bytes > 0 {
			out = append(out, fluidCapacity{medium: medium, bytes: float64(q.bytes)})
		}
	}
	return out
}

// mediumOfCapacity reads "<runtime>-{m|d|t}-<name>", where the name must be one of the dataset's. Fluid's "disk" does
// not say which kind; caches are kept on the fast one.
func mediumOfCapacity(rest string, names []string) (locality.Medium, bool) {
	for _, name := range names {
		switch {
		case strings.HasSuffix(rest, "-m-"+name):
			return locality.MediumMemory, true
		case strings.HasSuffix(rest, "-d-"+name):
			return locality.MediumSSD, true
		}
	}
	return locality.MediumUnknown, false
}
