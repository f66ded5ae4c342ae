package diskio

import (
	"sync"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// maxMemo bounds what a memo remembers. Pods of one workload share their annotation.
const maxMemo = 4096

// memo remembers results by what they were worked out from. Summing a node's pods would parse annotations and evaluate
// models again for each of them, whenever one pod comes or goes; an expression takes some 20 us. A full memo, or one of
// another generation, starts anew.
type memo[K comparable, V any] struct {
	mu         sync.RWMutex
	generation uint64
	known      map[K]V
}

// annotationKey is what a pod wrote.
type annotationKey struct{ resources, throughput string }

// demandKey is what a request is of which kind of disk.
type demandKey struct {
	kind    blockio.Kind
	request blockio.Request
}

func (m *memo[K, V]) get(key K, generation uint64) (value V, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, ok = m.known[key]
	return value, ok && m.generation == generation
}

func (m *memo[K, V]) put(key K, generation uint64, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || m.generation != generation || len(m.known) >= maxMemo {
		m.known, m.generation = map[K]V{}, generation
	}
	m.known[key] = value
}
