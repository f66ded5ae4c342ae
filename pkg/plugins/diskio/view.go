package diskio

import (
	"sync"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// view is what a node's disks have left. It is immutable, and holds side by side what Filter and Score read of a node:
// on a large cluster the time of both goes into fetching it from memory.
type view struct {
	// The sums hold for this generation of the NodeInfo and of the models, and as long as the report is in this state.
	generation int64
	models     uint64
	report     blockio.ReportState

	observedAt time.Time // the disks' own
	byDefault  int       // the index of the default disk, -1 without one
	onDefault  standing  // a copy, for one step less through memory: most pods use this disk alone
	byDisk     []standing
	disks      *blockio.Node
}

// unsummed is the generation of a view that has no sums yet; those of NodeInfos are positive.
const unsummed = -1

// standing is how one disk stands.
type standing struct {
	// free is what is left of the disk, but for the data that pods are expected to fetch.
	free   blockio.Supply
	kind   unique.Handle[blockio.Kind]
	device blockio.Device
}

// on returns how a disk stands, by its index.
func (v *view) on(at int) *standing {
	if at == v.byDefault {
		return &v.onDefault
	}
	return &v.byDisk[at]
}

// diskAt is blockio.Node.DiskAt, and -1 where nothing is known.
func (v *view) diskAt(path string) int {
	switch {
	case v == nil:
		return -1
	case path == "":
		return v.byDefault
	default:
		return v.disks.DiskAt(path)
	}
}

// views sum what the pods of a node take from each of its disks, and remember it until the node's pods or its disks
// change.
//
// A sum belongs to a generation of the NodeInfo, which the framework raises with every pod that comes or goes, also in
// the copies on which it tries preemption; to a generation of the models; to a state of the report, which becomes stale
// by itself; and to what is known of the node's disks.
//
// Filter runs on many nodes at once: byNode is behind mu, and views are replaced, not changed. What goes into
// byNode is asked for while mu is held, and changed is called after a node's disks have changed: so byNode is never older
// than the last change that was told. Sums are made without mu. They are not kept when the disks changed meanwhile.
type views struct {
	charge     func(uses []Use, pod *corev1.Pod, disks *blockio.Node)
	models     func() uint64 // the generation of the models by which demands are worked out
	disks      func(node string) *blockio.Node
	staleAfter time.Duration

	mu     sync.RWMutex
	byNode map[string]*view // nodes whose disks are described
}

// of returns the view of a node at now, or nil when nobody described its disks.
func (v *views) of(info fwk.NodeInfo, now time.Time) *view {
	name := info.Node().Name
	v.mu.RLock()
	known := v.byNode[name]
	v.mu.RUnlock()
	if known == nil {
		if v.disks(name) == nil { // the usual reason, and no reason to keep others from reading
			return nil
		}
		if known = v.changed(name); known == nil {
			return nil
		}
	}
	generation, models := info.GetGeneration(), v.models()
	report := blockio.ReportStateAt(known.observedAt, now, v.staleAfter)
	if known.generation == generation && known.models == models && known.report == report {
		return known
	}
	next := &view{generation: generation, models: models, report: report}
	v.sum(next, info, known, now)
	v.mu.Lock()
	defer v.mu.Unlock()
	if current := v.byNode[name]; current != nil && current.disks == next.disks {
		v.byNode[name] = next
	}
	return next
}

// sum fills next in for the same disks as known.
func (v *views) sum(next *view, info fwk.NodeInfo, known *view, now time.Time) {
	disks := known.disks
	uses := make([]Use, len(disks.Disks))
	for _, pod := range info.GetPods() {
		v.charge(uses, pod.GetPod(), disks)
	}
	next.disks, next.observedAt, next.byDefault = disks, disks.ObservedAt, disks.DiskAt("")
	next.byDisk = make([]standing, len(disks.Disks))
	for i := range disks.Disks {
		disk, stands := &disks.Disks[i], &next.byDisk[i]
		stands.kind, stands.device = known.byDisk[i].kind, disks.Device(disk, now, v.staleAfter)
		stands.free = stands.device.Free(uses[i].Requested, uses[i].Unseen)
	}
	if next.byDefault >= 0 {
		next.onDefault = next.byDisk[next.byDefault]
	}
}

// changed takes over what is known of a node's disks, and returns a view, which has no sums yet if they are others.
func (v *views) changed(node string) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	disks := v.disks(node)
	if disks == nil {
		delete(v.byNode, node)
		return nil
	}
	if known := v.byNode[node]; known != nil && known.disks == disks {
		return known
	}
	next := &view{
		generation: unsummed, disks: disks, observedAt: disks.ObservedAt, byDisk: make([]standing, len(disks.Disks)),
	}
	for i := range disks.Disks {
		next.byDisk[i].kind = unique.Make(disks.Disks[i].Kind)
	}
	v.byNode[node] = next
	return next
}
