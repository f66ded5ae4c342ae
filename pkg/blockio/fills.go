package blockio

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxFills bounds the pods that are remembered; more are not counted. 5,000 nodes that each start a dozen pods within
// one remembered time fit.
const maxFills = 65536

// Fills remembers how many bytes pods that were just placed are expected to write to their nodes while they fetch data.
// CacheAware writes it and DiskIO reads it; one serves all profiles. Pods are named by their UIDs. All fields are behind
// mu, but for count, which lets
// readers pass without a lock while nothing is expected anywhere.
type Fills struct {
	keep time.Duration

	count  atomic.Int64
	mu     sync.RWMutex
	byNode map[string]map[string]expected
}

type expected struct {
	bytes int64
	since time.Time
}

// NewFills returns an empty memory that forgets expectations after keep, which is the longest time that a reader
// counts them.
func NewFills(keep time.Duration) *Fills {
	return &Fills{keep: keep, byNode: map[string]map[string]expected{}}
}

// Expect says that the pod will write so many bytes to the node from now on.
func (f *Fills) Expect(node string, pod string, bytes int64, now time.Time) {
	if bytes <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count.Load() >= maxFills {
		f.expireLocked(now)
	}
	if f.count.Load() >= maxFills {
		return
	}
	if f.byNode[node] == nil {
		f.byNode[node] = map[string]expected{}
	}
	if _, ok := f.byNode[node][pod]; !ok {
		f.count.Add(1)
	}
	f.byNode[node][pod] = expected{bytes: bytes, since: now}
}

// TakeBack says that the pod will not come after all.
func (f *Fills) TakeBack(node string, pod string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleteLocked(node, pod)
}

// On returns the bytes expected on the node of pods that were placed less than within ago. It does not allocate.
func (f *Fills) On(node string, now time.Time, within time.Duration) (bytes int64) {
	if f.count.Load() == 0 {
		return 0
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, e := range f.byNode[node] {
		if now.Sub(e.since) < within {
			bytes += e.bytes
		}
	}
	return bytes
}

func (f *Fills) expireLocked(now time.Time) {
	for node, pods := range f.byNode {
		for pod, e := range pods {
			if now.Sub(e.since) >= f.keep {
				f.deleteLocked(node, pod)
			}
		}
	}
}

func (f *Fills) deleteLocked(node string, pod string) {
	if _, ok := f.byNode[node][pod]; !ok {
		return
	}
	delete(f.byNode[node], pod)
	f.count.Add(-1)
	if len(f.byNode[node]) == 0 {
		delete(f.byNode, node)
	}
}
