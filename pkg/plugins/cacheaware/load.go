package cacheaware

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// datasetLoad counts the pods that are bound, or about to be, by dataset.
//
// A pod enters at Reserve or when the informer shows it bound, whichever comes first, and leaves at Unreserve or
// when it is deleted; entering and leaving twice is harmless. All fields are behind mu: scheduling cycles, binding
// cycles and informer handlers call in from different goroutines.
type datasetLoad struct {
	mu        sync.Mutex
	pods      map[types.UID][]locality.DatasetKey
	byDataset map[locality.DatasetKey]int
}

func newDatasetLoad() *datasetLoad {
	return &datasetLoad{pods: map[types.UID][]locality.DatasetKey{}, byDataset: map[locality.DatasetKey]int{}}
}

func (l *datasetLoad) bound(pod types.UID, datasets []locality.DatasetKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.pods[pod]; ok {
		return
	}
	l.pods[pod] = datasets
	for _, dataset := range datasets {
		l.byDataset[dataset]++
	}
}

func (l *datasetLoad) gone(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, dataset := range l.pods[pod] {
		if l.byDataset[dataset]--; l.byDataset[dataset] == 0 {
			delete(l.byDataset, dataset)
		}
	}
	delete(l.pods, pod)
}

// counts reports whether the pod is counted already.
func (l *datasetLoad) counts(pod types.UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.pods[pod]
	return ok
}

// of returns the number of pods that use the dataset.
func (l *datasetLoad) of(dataset locality.DatasetKey) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byDataset[dataset]
}
