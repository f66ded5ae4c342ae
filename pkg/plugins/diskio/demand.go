package diskio

import (
	"fmt"
	"slices"

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

// wishOf reads the pod's annotations. An error is the user's to mend and names the place. The wish is only to be read.
func (a *Accounts) wishOf(pod *corev1.Pod) (wish, error) {
	key := annotationKey{
		resources:  pod.Annotations[vicinityv1alpha1.BlockIOAnnotation],
		throughput: pod.Annotations[vicinityv1alpha1.BlockIOThroughputAnnotation],
	}
	if known, ok := a.parsed.get(key, 0); ok {
		return known, nil
	}
	demands, required, err := vicinityv1alpha1.BlockIOOf(pod.Annotations)
	if err != nil {
		return wish{}, err
	}
	w, onVolumes := wish{required: required}, false
	for _, demand := range demands {
		onVolumes = onVolumes || demand.Volume != ""
		path, local, err := a.pathOf(pod, demand.Volume)
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
	// What is asked of volumes hangs on the pod; an absent annotation and an empty one differ, and share a key.
	if !onVolumes && key != (annotationKey{}) {
		a.parsed.put(key, 0, w)
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
func (a *Accounts) pathOf(pod *corev1.Pod, volume string) (path string, local bool, err error) {
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
	claim, err := a.claims.PersistentVolumeClaims(pod.Namespace).Get(claimed.ClaimName)
	if err != nil || claim.Spec.VolumeName == "" {
		return "", true, nil //nolint:nilerr // the volume plugins complain about a claim that is missing
	}
	bound, err := a.volumes.Get(claim.Spec.VolumeName)
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
func (a *Accounts) normalized(requests []blockio.Request, kind blockio.Kind) (blockio.Demand, error) {
	if len(requests) == 0 {
		return a.bestEffort, nil
	}
	var sum blockio.Demand
	model := a.models.Model(kind)
	for _, request := range requests {
		demand, err := model.Normalize(request)
		if err != nil {
			return blockio.Demand{}, err
		}
		sum = sum.Add(demand)
	}
	return sum, nil
}

// taken is normalized for pods that are placed: what cannot be told counts as the minimum.
func (a *Accounts) taken(requests []blockio.Request, kind blockio.Kind) blockio.Demand {
	if len(requests) == 0 {
		return a.bestEffort
	}
	key, generation := demandKey{kind: kind, request: requests[0]}, a.models.Generation()
	single := len(requests) == 1
	if demand, ok := a.demands.get(key, generation); ok && single {
		return demand
	}
	demand, err := a.normalized(requests, kind)
	if err != nil {
		demand = a.bestEffort
	}
	if single {
		a.demands.put(key, generation, demand)
	}
	return demand
}
