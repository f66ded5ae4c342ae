package locality

import (
	"cmp"
	"slices"
	"time"
)

// HostnameKey is the label key whose value names a single node.
const HostnameKey = "kubernetes.io/hostname"

// DatasetKey identifies a dataset. Datasets are namespaced: a pod sees those of its own namespace only.
type DatasetKey struct {
	Namespace, Name string
}

// String returns "namespace/name".
func (k DatasetKey) String() string { return k.Namespace + "/" + k.Name }

// MarshalText makes lists of keys readable in logs and JSON.
func (k DatasetKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Location names the nodes that carry a label: one node when Key is [HostnameKey], else a topology domain.
type Location struct {
	Key, Value string
}

// String returns "key=value".
func (l Location) String() string { return l.Key + "=" + l.Value }

// OnNode is the location of a single node.
func OnNode(name string) Location { return Location{Key: HostnameKey, Value: name} }

// Medium is what a replica's bytes lie on.
type Medium uint8

// The media. MediumUnknown counts like the fastest: a source that does not tell is not held against the replica.
const (
	MediumUnknown Medium = iota
	MediumMemory
	MediumSSD
	MediumHDD
	mediumCount
)

// String returns the medium's name as the API spells it, or "Unknown".
func (m Medium) String() string {
	return [mediumCount]string{"Unknown", "Memory", "SSD", "HDD"}[min(m, mediumCount-1)]
}

// Replica is one place from which a dataset can be read.
type Replica struct {
	At Location
	// Gateway serves the whole dataset over a protocol. Bytes and Medium of a gateway are not looked at.
	Gateway bool
	// Bytes is how much of the dataset the place holds. It counts only when BytesKnown; otherwise the place is
	// taken to hold all of it.
	Bytes      int64
	BytesKnown bool
	Medium     Medium
	// Observed is when the source last confirmed this. The zero time means that the source does not tell, and
	// that the replica does not become stale.
	Observed time.Time
	// Source names who said so, for people.
	Source string
}

// Dataset is what is known of a dataset. The zero value means: nothing.
type Dataset struct {
	// SizeBytes is the size of the whole dataset; 0 means unknown.
	SizeBytes int64
	Replicas  []Replica
	// NodeCached means that a node which reads the dataset keeps what it read, and that this is watched: a pod
	// makes its node warm.
	NodeCached bool
}

// HasGateway reports whether some replica is a gateway: then pods read over the network, and running one on a
// node does not bring bytes to that node.
func (d Dataset) HasGateway() bool {
	return slices.ContainsFunc(d.Replicas, func(r Replica) bool { return r.Gateway })
}

// size returns the dataset's size, or, when that is unknown, the largest count of bytes that one medium of one
// place holds: the dataset is at least that large.
func (d Dataset) size() int64 {
	size := d.SizeBytes
	if size > 0 {
		return size
	}
	for _, r := range d.Replicas {
		if r.BytesKnown {
			size = max(size, r.Bytes)
		}
	}
	return size
}

// fraction returns which part of a dataset of that size the replica holds, 0 to 1. Sources that contradict each
// other (more bytes held than there are) or themselves (negative bytes) are brought into range.
func (r Replica) fraction(size int64) float64 {
	switch {
	case r.Gateway || !r.BytesKnown:
		return 1
	case r.Bytes <= 0 || size <= 0:
		return 0
	default:
		return min(1, float64(r.Bytes)/float64(size))
	}
}

// Merge joins what several sources say of one dataset. Of two statements about the same place the fresher one
// wins, and one without a time loses to one with; what one source says about a place, on whatever media, stays
// together. The size is the first one known.
func Merge(said ...Dataset) Dataset {
	var out Dataset
	freshest := map[Location]Replica{} // stands for its source's statement about the place
	for _, d := range said {
		out.NodeCached = out.NodeCached || d.NodeCached
		if out.SizeBytes == 0 {
			out.SizeBytes = max(0, d.SizeBytes)
		}
		for _, r := range d.Replicas {
			if best, ok := freshest[r.At]; !ok || r.Observed.After(best.Observed) {
				freshest[r.At] = r
			}
		}
	}
	for _, d := range said {
		for _, r := range d.Replicas {
			if freshest[r.At].Source == r.Source {
				out.Replicas = append(out.Replicas, r)
			}
		}
	}
	return out
}

// MergeFresh is [Merge] of what is left of the statements without the replicas that were last confirmed longer than
// maxAge before now, which it returns beside. They are left out before merging: a source that fell silent must not hide
// what another one says of the same place. A time in the future is a clock that differs, and counts as now.
func MergeFresh(now time.Time, maxAge time.Duration, said ...Dataset) (merged Dataset, stale []Replica) {
	fresh := make([]Dataset, len(said))
	for i, d := range said {
		fresh[i] = d
		if !slices.ContainsFunc(d.Replicas, func(r Replica) bool { return r.Stale(now, maxAge) }) {
			continue
		}
		fresh[i].Replicas = nil
		for _, r := range d.Replicas {
			if r.Stale(now, maxAge) {
				stale = append(stale, r)
			} else {
				fresh[i].Replicas = append(fresh[i].Replicas, r)
			}
		}
	}
	return Merge(fresh...), stale
}

// Stale reports that the replica was last confirmed longer than maxAge before now. One without a time never is.
func (r Replica) Stale(now time.Time, maxAge time.Duration) bool {
	return !r.Observed.IsZero() && now.Sub(r.Observed) > maxAge
}

// Compare orders keys by namespace, then by name.
func (k DatasetKey) Compare(other DatasetKey) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name))
}
