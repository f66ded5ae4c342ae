package diskio

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// requestsOf turns the parsed annotation into requests.
func requestsOf(demands []vicinityv1alpha1.BlockIODemand) []blockio.Request {
	requests := make([]blockio.Request, len(demands))
	for i, d := range demands {
		requests[i] = blockio.Request{
			Read:       blockio.BytesPerSecond(d.ReadBytesPerSecond),
			Write:      blockio.BytesPerSecond(d.WriteBytesPerSecond),
			ReadBlock:  blockio.Bytes(d.ReadBlockSize),
			WriteBlock: blockio.Bytes(d.WriteBlockSize),
			IOPS:       blockio.IOPS{Read: blockio.PerSecond(d.ReadIOPS), Write: blockio.PerSecond(d.WriteIOPS)},
		}
	}
	return requests
}

// normalized returns what requests take from a disk of the kind together. Requests come from a pod's annotation; no
// requests are best effort, which no model applies to.
func (pl *DiskIO) normalized(requests []blockio.Request, kind blockio.Kind) (blockio.Demand, error) {
	if len(requests) == 0 {
		return pl.bestEffort, nil
	}
	var sum blockio.Demand
	model := pl.models.Model(kind)
	for _, request := range requests {
		demand, err := model.Normalize(request)
		if err != nil {
			return blockio.Demand{}, err
		}
		sum = sum.Add(demand)
	}
	return sum, nil
}

// demandOf returns what a pod that is on a node takes from its disk. A pod whose annotation cannot be read, or to which
// the model does not apply, was placed by somebody who did not look: it is charged the minimum.
func (pl *DiskIO) demandOf(pod *corev1.Pod, kind blockio.Kind) blockio.Demand {
	if pl.listed(pod) {
		return blockio.Demand{}
	}
	key := memoKey{
		kind:       kind,
		resources:  pod.Annotations[vicinityv1alpha1.BlockIOAnnotation],
		throughput: pod.Annotations[vicinityv1alpha1.BlockIOThroughputAnnotation],
	}
	if key.resources == "" && key.throughput == "" {
		return pl.bestEffort
	}
	return pl.memo.of(key, pl.models.Generation(), func() blockio.Demand {
		demands, _, err := vicinityv1alpha1.BlockIOOf(pod.Annotations)
		if err != nil {
			return pl.bestEffort
		}
		demand, err := pl.normalized(requestsOf(demands), kind)
		if err != nil {
			return pl.bestEffort
		}
		return demand
	})
}

// maxMemo bounds the demands that are remembered. Pods of one workload share theirs.
const maxMemo = 4096

// memo remembers what pods that are placed take: a sum over a node parses annotations and evaluates models otherwise,
// again for each pod of each node whenever one pod comes or goes.
type memo struct {
	mu         sync.RWMutex
	generation uint64
	demands    map[memoKey]blockio.Demand
}

type memoKey struct {
	kind                  blockio.Kind
	resources, throughput string // the values of the annotations
}

// of returns what is remembered under the key for a generation of the models, or else what work says.
func (m *memo) of(key memoKey, generation uint64, work func() blockio.Demand) blockio.Demand {
	m.mu.RLock()
	demand, ok := m.demands[key]
	ok = ok && m.generation == generation
	m.mu.RUnlock()
	if ok {
		return demand
	}
	demand = work()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.demands == nil || m.generation != generation || len(m.demands) >= maxMemo {
		m.demands, m.generation = map[memoKey]blockio.Demand{}, generation
	}
	m.demands[key] = demand
	return demand
}
