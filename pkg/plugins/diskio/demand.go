package diskio

import (
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// target is a place on a node's disks and what a pod asks of it.
type target struct {
	path     string // "": whatever is on the default disk
	requests []blockio.Request
}

// wish is what a pod asks of this plugin.
type wish struct {
	targets  []target // at least one: a pod without demands is best effort on the default disk
	required bool     // the pod wants a node that knows its disks
}

// wishOf reads the pod's annotations. An error is the user's to mend and names the place.
func (pl *DiskIO) wishOf(pod *corev1.Pod) (wish, error) {
	demands, required, err := vicinityv1alpha1.BlockIOOf(pod.Annotations)
	if err != nil {
		return wish{}, err
	}
	w := wish{required: required}
	for _, demand := range demands {
		path, local, err := pl.pathOf(pod, demand.Volume)
		if err != nil {
			return wish{}, err
		}
		if local {
			w.add(path, requestOf(demand))
		}
	}
	if len(w.targets) == 0 {
		w.targets = []target{{}}
	}
	return w, nil
}

func (w *wish) add(path string, request blockio.Request) {
	i := slices.IndexFunc(w.targets, func(t target) bool { return t.path == path })
	if i < 0 {
		w.targets, i = append(w.targets, target{path: path}), len(w.targets)
	}
	w.targets[i].requests = append(w.targets[i].requests, request)
}

// pathOf returns where on the node a volume of the pod is, "" for the default disk, and false when it is on no disk of
// the node at all. A claim that is not bound yet counts on the default disk: its place is not decided.
func (pl *DiskIO) pathOf(pod *corev1.Pod, volume string) (path string, local bool, err error) {
	if volume == "" {
		return "", true, nil
	}
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume })
	if i < 0 {
		return "", false, fmt.Errorf("annotation %q names volume %q; want one of the pod's volumes",
			vicinityv1alpha1.BlockIOAnnotation, volume)
	}
	claimed := pod.Spec.Volumes[i].PersistentVolumeClaim
	if claimed == nil {
		return "", true, nil
	}
	claim, err := pl.claims.PersistentVolumeClaims(pod.Namespace).Get(claimed.ClaimName)
	if err != nil || claim.Spec.VolumeName == "" {
		return "", true, nil //nolint:nilerr // the volume plugins complain about a claim that is missing
	}
	bound, err := pl.volumes.Get(claim.Spec.VolumeName)
	switch {
	case err != nil:
		return "", true, nil //nolint:nilerr // likewise
	case bound.Spec.Local != nil:
		return bound.Spec.Local.Path, true, nil
	case bound.Spec.HostPath != nil:
		return bound.Spec.HostPath.Path, true, nil
	default:
		return "", false, nil
	}
}

func requestOf(d vicinityv1alpha1.BlockIODemand) blockio.Request {
	return blockio.Request{
		Read:       blockio.BytesPerSecond(d.ReadBytesPerSecond),
		Write:      blockio.BytesPerSecond(d.WriteBytesPerSecond),
		ReadBlock:  blockio.Bytes(d.ReadBlockSize),
		WriteBlock: blockio.Bytes(d.WriteBlockSize),
		IOPS:       blockio.IOPS{Read: blockio.PerSecond(d.ReadIOPS), Write: blockio.PerSecond(d.WriteIOPS)},
	}
}

// normalized returns what requests take from a disk of the kind together. No requests are best effort, which no model
// applies to.
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

// charge calls add with what a pod that is on a node takes from each of its disks. A pod whose annotation cannot be
// read, or to which the model does not apply, was placed by somebody who did not look: it is charged the minimum.
func (pl *DiskIO) charge(pod *corev1.Pod, disks *blockio.Node, add func(disk int, demand blockio.Demand)) {
	if pl.listed(pod) {
		return
	}
	w, err := pl.wishOf(pod)
	if err != nil {
		w.targets = []target{{}}
	}
	for _, t := range w.targets {
		disk := disks.DiskAt(t.path)
		if disk < 0 {
			continue
		}
		demand := pl.bestEffort
		if len(t.requests) > 0 {
			demand = pl.memo.of(memoKey{kind: disks.Disks[disk].Kind, requests: fmt.Sprint(t.requests)}, pl.models.Generation(), func() blockio.Demand {
				demand, err := pl.normalized(t.requests, disks.Disks[disk].Kind)
				if err != nil {
					return pl.bestEffort
				}
				return demand
			})
		}
		add(disk, demand)
	}
}

// maxMemo bounds the demands that are remembered. Pods of one workload share theirs.
const maxMemo = 4096

// memo remembers what requests take from a kind of disk. A sum over a node would evaluate models otherwise, again for
// each of its pods whenever one comes or goes, and an expression takes some 20 us.
type memo struct {
	mu         sync.RWMutex
	generation uint64
	demands    map[memoKey]blockio.Demand
}

type memoKey struct {
	kind     blockio.Kind
	requests string // the text of the requests
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
