package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// World is the state. It belongs to one goroutine.
type World struct {
	cluster *model.Cluster
	spec    *model.World
	// holders are the nodes that hold a dataset, by its index, ascending.
	holders  [][]int
	datasets map[string]int
	// demand is what the pods on a node ask of its disk, in bytes per second.
	demand []int64
	// peers are the pods that somebody talks to, and the nodes that they run on.
	peers map[string]int
}

// New is the world before the first pod. pods are all that will come: only those that somebody talks to are followed.
func New(cluster *model.Cluster, spec *model.World) (*World, error) {
	w := &World{
		cluster: cluster, spec: spec, datasets: map[string]int{}, demand: make([]int64, len(cluster.Nodes)), peers: map[string]int{},
	}
	nodes := make(map[string]int, len(cluster.Nodes))
	for i := range cluster.Nodes {
		nodes[cluster.Nodes[i].Name] = i
	}
	for i := range spec.Datasets {
		d := &spec.Datasets[i]
		if _, again := w.datasets[d.Name]; again || d.Name == "" || d.Bytes < 0 {
			return nil, fmt.Errorf("dataset %d (%q, %d bytes): expected a name of its own and 0 or more bytes", i, d.Name, d.Bytes)
		}
		w.datasets[d.Name] = i
		var holders []int
		for _, name := range d.Nodes {
			node, known := nodes[name]
			if !known {
				return nil, fmt.Errorf("dataset %q is on node %q, which the cluster does not have", d.Name, name)
			}
			holders = append(holders, node)
		}
		slices.Sort(holders)
		w.holders = append(w.holders, slices.Compact(holders))
	}
	return w, errors.Join(w.checkLinks(), w.checkFailures(nodes))
}

func (w *World) checkLinks() error {
	for d, link := range w.spec.Links {
		if link.RTT < 0 || link.BytesPerSecond < 0 {
			return fmt.Errorf("link %s: round trip %v, %d bytes per second: expected neither below 0",
				model.Distance(d), link.RTT, link.BytesPerSecond)
		}
	}
	return nil
}

func (w *World) checkFailures(nodes map[string]int) error {
	for i, f := range w.spec.Failures {
		if _, known := nodes[f.Node]; !known {
			return fmt.Errorf("failure %d is of node %q, which the cluster does not have", i, f.Node)
		}
		if f.At < 0 || (f.Until != 0 && f.Until <= f.At) {
			return fmt.Errorf("failure %d of node %s lasts from %v to %v: expected an end after the start", i, f.Node, f.At, f.Until)
		}
	}
	return nil
}

// Check refuses a pod that needs what there is not.
func (w *World) Check(pod *model.Pod) error {
	for _, name := range pod.Datasets {
		if _, known := w.datasets[name]; !known {
			return fmt.Errorf("pod %s reads dataset %q, which does not exist", pod.Key(), name)
		}
	}
	if pod.DiskBytesPerSecond < 0 {
		return fmt.Errorf("pod %s asks for %d bytes per second of its disk: expected 0 or more", pod.Key(), pod.DiskBytesPerSecond)
	}
	return nil
}

// Follow remembers that somebody talks to the pod's peers.
func (w *World) Follow(pod *model.Pod) {
	for _, peer := range pod.Peers {
		if _, known := w.peers[peer]; !known {
			w.peers[peer] = model.Unplaced
		}
	}
}

// Fetch is what it takes to get the pod's data to the node: how long, one dataset after the other, and how many bytes
// from how far.
func (w *World) Fetch(pod *model.Pod, node int) (time.Duration, [model.Distances]int64) {
	var took time.Duration
	var bytes [model.Distances]int64
	for _, name := range pod.Datasets {
		at := w.datasets[name]
		from, size := w.nearest(at, node), w.spec.Datasets[at].Bytes
		if from == model.SameNode {
			continue
		}
		bytes[from] += size
		if rate := w.spec.Links[from].BytesPerSecond; rate > 0 {
			took += seconds(float64(size) / float64(rate))
		}
	}
	return took, bytes
}

// nearest is how far the nearest copy of the dataset is.
func (w *World) nearest(dataset, node int) model.Distance {
	least := model.Store
	here := &w.cluster.Nodes[node]
	for _, holder := range w.holders[dataset] {
		least = min(least, here.DistanceTo(&w.cluster.Nodes[holder]))
	}
	return least
}

// PeerRTT is the mean round trip from the node to the pod's peers that run; false when none does.
func (w *World) PeerRTT(pod *model.Pod, node int) (time.Duration, bool) {
	var sum time.Duration
	count := 0
	for _, peer := range pod.Peers {
		if at := w.peers[peer]; at != model.Unplaced {
			sum += w.spec.Links[w.cluster.Nodes[node].DistanceTo(&w.cluster.Nodes[at])].RTT
			count++
		}
	}
	if count == 0 {
		return 0, false
	}
	return sum / time.Duration(count), true
}

// Place puts the pod onto the node: the node holds its data from now on.
func (w *World) Place(pod *model.Pod, node int) {
	w.demand[node] += pod.DiskBytesPerSecond
	for _, name := range pod.Datasets {
		at := w.datasets[name]
		if i, held := slices.BinarySearch(w.holders[at], node); !held {
			w.holders[at] = slices.Insert(w.holders[at], i, node)
		}
	}
	w.move(pod, node)
}

// Remove takes it off. Data stays.
func (w *World) Remove(pod *model.Pod, node int) {
	w.demand[node] -= pod.DiskBytesPerSecond
	w.move(pod, model.Unplaced)
}

func (w *World) move(pod *model.Pod, node int) {
	if key := pod.Key(); len(w.peers) > 0 {
		if _, followed := w.peers[key]; followed {
			w.peers[key] = node
		}
	}
}

// Speed is the part of what they ask for that pods get from the node's disk, 1 when it can serve everybody.
func (w *World) Speed(node int) float64 {
	capacity := w.cluster.Nodes[node].DiskBytesPerSecond
	if capacity == 0 || w.demand[node] <= capacity {
		return 1
	}
	return float64(capacity) / float64(w.demand[node])
}

// DiskUse is the part of the node's disk that would be asked for with more bytes per second; 0 when it has no limit.
func (w *World) DiskUse(node int, more int64) float64 {
	capacity := w.cluster.Nodes[node].DiskBytesPerSecond
	if capacity == 0 {
		return 0
	}
	return float64(w.demand[node]+more) / float64(capacity)
}

// maxSeconds keeps times within a Duration: some thirty years.
const maxSeconds = 1e9

func seconds(s float64) time.Duration {
	return time.Duration(min(s, maxSeconds) * float64(time.Second))
}
