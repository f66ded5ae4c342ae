package cacheaware

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// maxWarming bounds the pairs of dataset and node that are remembered. A cluster of 5,000 nodes that starts a
// dozen cold datasets on each within one TTL fits.
const maxWarming = 65536

// warmingNodes remembers which nodes become warm because a pod of a dataset went there, until a source reports
// the bytes (then the report counts, and the memory adds nothing) or a time passes.
//
// A pair lives as long as a pod that caused it may still arrive; Unreserve takes back what the pod alone caused.
// All fields are behind mu.
type warmingNodes struct {
	most int

	mu        sync.Mutex
	byDataset map[locality.DatasetKey]map[string]*warmingNode
	pairs     int
}

type warmingNode struct {
	until time.Time
	pods  map[types.UID]struct{}
}

func newWarmingNodes(most int) *warmingNodes {
	return &warmingNodes{most: most, byDataset: map[locality.DatasetKey]map[string]*warmingNode{}}
}

// add remembers that pod brings the dataset to the node. It returns false when there is no room for it.
func (w *warmingNodes) add(dataset locality.DatasetKey, node string, pod types.UID, now, until time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	entry := w.byDataset[dataset][node]
	if entry == nil {
		if w.pairs >= w.most {
			w.expireLocked(now)
		}
		if w.pairs >= w.most {
			return false
		}
		if w.byDataset[dataset] == nil {
			w.byDataset[dataset] = map[string]*warmingNode{}
		}
		entry = &warmingNode{pods: map[types.UID]struct{}{}}
		w.byDataset[dataset][node] = entry
		w.pairs++
	}
	entry.until = until
	entry.pods[pod] = struct{}{}
	return true
}

// join makes the pod a further cause of what is remembered already, so that taking back the first cause does not
// end it. It does not lengthen the time.
func (w *warmingNodes) join(dataset locality.DatasetKey, node string, pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if entry := w.byDataset[dataset][node]; entry != nil {
		entry.pods[pod] = struct{}{}
	}
}

// takeBack forgets what the pod alone caused.
func (w *warmingNodes) takeBack(dataset locality.DatasetKey, node string, pod types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	entry := w.byDataset[dataset][node]
	if entry == nil {
		return
	}
	if delete(entry.pods, pod); len(entry.pods) == 0 {
		w.deleteLocked(dataset, node)
	}
}

// nodes returns the nodes that become warm for the dataset.
func (w *warmingNodes) nodes(dataset locality.DatasetKey, now time.Time) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for node, entry := range w.byDataset[dataset] {
		if now.Before(entry.until) {
			out = append(out, node)
		} else {
			w.deleteLocked(dataset, node)
		}
	}
	return out
}

func (w *warmingNodes) expireLocked(now time.Time) {
	for dataset, nodes := range w.byDataset {
		for node, entry := range nodes {
			if !now.Before(entry.until) {
				w.deleteLocked(dataset, node)
			}
		}
	}
}

func (w *warmingNodes) deleteLocked(dataset locality.DatasetKey, node string) {
	delete(w.byDataset[dataset], node)
	w.pairs--
	if len(w.byDataset[dataset]) == 0 {
		delete(w.byDataset, dataset)
	}
}
