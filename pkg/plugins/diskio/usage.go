package diskio

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// usage sums what the pods of a node take from each of its disks, and remembers the sum until the node's pods or its
// disks change.
//
// A sum belongs to a generation of the NodeInfo, which the framework raises with every pod that comes or goes, also in
// the copies on which it tries preemption, to a generation of the models, and to a view of the node's disks, which is
// another one when a report comes.
// Filter runs on many nodes at once: all fields are behind mu, and sums are replaced, not changed.
type usage struct {
	charge func(uses []Use, pod *corev1.Pod, disks *blockio.Node)
	models func() uint64 // the generation of the models by which demands are worked out

	mu     sync.RWMutex
	byNode map[string]*nodeUsage
}

type nodeUsage struct {
	generation int64
	models     uint64
	disks      *blockio.Node
	byDisk     []Use // indexed like the node's disks
}

func newUsage(charge func([]Use, *corev1.Pod, *blockio.Node), models func() uint64) *usage {
	return &usage{charge: charge, models: models, byNode: map[string]*nodeUsage{}}
}

// of returns the sums for a node with these disks. They are only to be read.
func (u *usage) of(info fwk.NodeInfo, disks *blockio.Node) []Use {
	name, generation, models := info.Node().Name, info.GetGeneration(), u.models()
	u.mu.RLock()
	known := u.byNode[name]
	u.mu.RUnlock()
	if known != nil && known.generation == generation && known.models == models && known.disks == disks {
		return known.byDisk
	}
	next := &nodeUsage{generation: generation, models: models, disks: disks, byDisk: make([]Use, len(disks.Disks))}
	for _, pod := range info.GetPods() {
		u.charge(next.byDisk, pod.GetPod(), disks)
	}
	u.mu.Lock()
	u.byNode[name] = next
	u.mu.Unlock()
	return next.byDisk
}

// forget drops the sum of a node whose disks changed.
func (u *usage) forget(node string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.byNode, node)
}
