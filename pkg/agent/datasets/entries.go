package datasets

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	// maxEntries is what the status of a NodeDatasetCache takes.
	maxEntries = 2048

	// maxObjectBytes keeps the object well below the 1.5 MiB that etcd takes, whatever the names. An entry is stored
	// twice, as itself and as the owned fields of server-side apply, each time with its names.
	maxObjectBytes   = 1 << 20
	entryFixedBytes  = 300
	entryTimesStored = 2
)

// key is what an entry of the status is about.
type key struct {
	datasetName

	medium vicinityv1alpha1.Medium
}

// known puts together what all roots know. Inherited is what an earlier agent reported: it stands in for what this one
// has not come to yet.
func known(roots []*root, inherited map[key]observation) map[key]observation {
	all := map[key]observation{}
	unsettled := map[vicinityv1alpha1.Medium]bool{}
	for _, r := range roots {
		if !r.settled {
			unsettled[r.medium] = true
		}
		for name, found := range r.counts {
			at := key{name, r.medium}
			if other, ok := all[at]; ok {
				found.bytes = saturatingAdd(found.bytes, other.bytes)
				// A sum is as old as its oldest part.
				if other.at.Before(found.at) {
					found.at = other.at
				}
			}
			all[at] = found
		}
	}
	for at, found := range inherited {
		if _, ok := all[at]; !ok && unsettled[at.medium] {
			all[at] = found
		}
	}
	return all
}

// entries lists what is known for the status, ordered by key. If it is more than an object holds, the largest datasets
// are listed; omitted is the number of the others.
func entries(all map[key]observation) (list []vicinityv1alpha1.CachedDataset, omitted int) {
	list = make([]vicinityv1alpha1.CachedDataset, 0, len(all))
	for at, found := range all {
		list = append(list, vicinityv1alpha1.CachedDataset{
			Namespace: at.namespace, Name: at.name, Medium: at.medium,
			ObservedAt: metav1.NewTime(found.at), CachedBytes: found.bytes,
		})
	}
	slices.SortFunc(list, func(a, b vicinityv1alpha1.CachedDataset) int {
		return cmp.Or(cmp.Compare(b.CachedBytes, a.CachedBytes), byKey(a, b))
	})
	size, fit := 0, 0
	for _, entry := range list[:min(len(list), maxEntries)] {
		size += entryFixedBytes + entryTimesStored*(len(entry.Namespace)+len(entry.Name))
		if size > maxObjectBytes {
			break
		}
		fit++
	}
	omitted = len(list) - fit
	list = list[:fit]
	slices.SortFunc(list, byKey)
	return list, omitted
}

func byKey(a, b vicinityv1alpha1.CachedDataset) int {
	return cmp.Or(
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Medium, b.Medium))
}

// bytesOf maps a status to what a later one is compared with.
func bytesOf(list []vicinityv1alpha1.CachedDataset) map[key]int64 {
	bytes := make(map[key]int64, len(list))
	for _, entry := range list {
		bytes[keyOf(entry)] = entry.CachedBytes
	}
	return bytes
}

func keyOf(entry vicinityv1alpha1.CachedDataset) key {
	return key{datasetName{entry.Namespace, entry.Name}, entry.Medium}
}
