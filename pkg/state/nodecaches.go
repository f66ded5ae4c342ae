package state

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// nodeCaches keeps the NodeDatasetCache objects: which bytes each node's agent counted.
//
// A report replaces what the same node reported before. Its entries are immutable, so readers may keep them.
type nodeCaches struct {
	malformed *prometheus.CounterVec
	changed   func(locality.DatasetKey)

	mu        sync.RWMutex
	byNode    map[string]nodeReport
	byDataset map[locality.DatasetKey]map[string]struct{} // names of the nodes that report it
}

// nodeReport is what one node holds.
type nodeReport map[locality.DatasetKey]cachedDataset

type cachedDataset struct {
	totalBytes int64
	replicas   []locality.Replica // one a medium
}

func newNodeCaches(malformed *prometheus.CounterVec, changed func(locality.DatasetKey)) *nodeCaches {
	return &nodeCaches{
		malformed: malformed, changed: changed,
		byNode: map[string]nodeReport{}, byDataset: map[locality.DatasetKey]map[string]struct{}{},
	}
}

const nodeCachesResource = "nodedatasetcaches"

func (c *nodeCaches) resources() []optionalResource {
	return []optionalResource{{
		resource: vicinityv1alpha1.GroupVersion().WithResource(nodeCachesResource),
		set:      c.set,
		remove:   func(_, name string) { c.replace(name, nil) },
	}}
}

func (c *nodeCaches) set(u *unstructured.Unstructured) {
	var object vicinityv1alpha1.NodeDatasetCache
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &object); err != nil {
		c.malformed.WithLabelValues(nodeCachesResource).Inc()
		c.replace(u.GetName(), nil)
		return
	}
	report, faults := readReport(&object)
	c.malformed.WithLabelValues(nodeCachesResource).Add(float64(faults))
	c.replace(object.Name, report)
}

// readReport turns an object into replicas and counts the entries that contradict themselves. The schema rejects
// such entries; an object written before the schema was installed may have them all the same.
func readReport(object *vicinityv1alpha1.NodeDatasetCache) (report nodeReport, faults int) {
	report = nodeReport{}
	media := map[vicinityv1alpha1.Medium]locality.Medium{
		vicinityv1alpha1.MediumMemory: locality.MediumMemory,
		vicinityv1alpha1.MediumSSD:    locality.MediumSSD,
		vicinityv1alpha1.MediumHDD:    locality.MediumHDD,
	}
	for i := range object.Status.Datasets {
		entry := &object.Status.Datasets[i]
		key := locality.DatasetKey{Namespace: entry.Namespace, Name: entry.Name}
		if entry.CachedBytes <= 0 || key.Namespace == "" || key.Name == "" {
			faults++
			continue
		}
		if entry.TotalBytes < 0 || entry.TotalBytes > 0 && entry.CachedBytes > entry.TotalBytes {
			faults++ // the bytes were counted, the total was told: the count is used
		}
		found := report[key]
		found.totalBytes = max(found.totalBytes, entry.TotalBytes)
		found.replicas = append(found.replicas, locality.Replica{
			At: locality.OnNode(object.Name), Bytes: entry.CachedBytes, BytesKnown: true,
			Medium:   media[entry.Medium],
			Observed: later(entry.ObservedAt.Time, object.Status.ObservedAt.Time),
			Source:   string(configv1.SourceNodeDatasetCache),
		})
		report[key] = found
	}
	return report, faults
}

// later: an entry keeps the time when its bytes were counted; the report's own time is the agent's sign of life,
// by which it says that they are still there.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// replace puts a node's new report, nil for none, in the place of its last one and tells which datasets it
// changes. News that are merely newer are no change.
func (c *nodeCaches) replace(node string, report nodeReport) {
	c.mu.Lock()
	last := c.byNode[node]
	var changes []locality.DatasetKey
	for key := range last {
		if _, still := report[key]; !still {
			delete(c.byDataset[key], node)
			if len(c.byDataset[key]) == 0 {
				delete(c.byDataset, key)
			}
			changes = append(changes, key)
		}
	}
	for key, now := range report {
		if c.byDataset[key] == nil {
			c.byDataset[key] = map[string]struct{}{}
		}
		c.byDataset[key][node] = struct{}{}
		if before, ok := last[key]; !ok || !sameBytes(before, now) {
			changes = append(changes, key)
		}
	}
	if report == nil {
		delete(c.byNode, node)
	} else {
		c.byNode[node] = report
	}
	c.mu.Unlock()
	for _, key := range changes {
		c.changed(key)
	}
}

func sameBytes(a, b cachedDataset) bool {
	return a.totalBytes == b.totalBytes && slices.EqualFunc(a.replicas, b.replicas, func(x, y locality.Replica) bool {
		return x.Bytes == y.Bytes && x.Medium == y.Medium
	})
}

// dataset says of every dataset, also of one that no node holds yet, that nodes keep what they read, as soon as one
// agent reports: without agents nothing would show that a node became warm.
func (c *nodeCaches) dataset(key locality.DatasetKey) (d locality.Dataset) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d.NodeCached = len(c.byNode) > 0
	nodes := c.byDataset[key]
	if len(nodes) == 0 {
		return d
	}
	d.Replicas = make([]locality.Replica, 0, len(nodes))
	for node := range nodes {
		found := c.byNode[node][key]
		d.SizeBytes = max(d.SizeBytes, found.totalBytes)
		d.Replicas = append(d.Replicas, found.replicas...)
	}
	return d
}

func (c *nodeCaches) holdsData(node locality.Node) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.byNode[node.Name]) > 0
}

func (c *nodeCaches) known(key locality.DatasetKey) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.byDataset[key]) > 0
}

func (c *nodeCaches) keys() []locality.DatasetKey {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Keys(c.byDataset))
}
