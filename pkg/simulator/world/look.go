package world

import (
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Dataset is how large a dataset is and which nodes hold it, ascending; known is false when there is none of that name.
// The list is the world's own, to be read until the next pod is placed.
func (w *World) Dataset(name string) (bytes int64, holders []int, known bool) {
	at, known := w.datasets[name]
	if !known {
		return 0, nil, false
	}
	return w.spec.Datasets[at].Bytes, w.holders[at], true
}

// HoldsData says whether the node has a copy of any dataset.
func (w *World) HoldsData(node int) bool {
	for _, holders := range w.holders {
		if _, held := slices.BinarySearch(holders, node); held {
			return true
		}
	}
	return false
}

// HasRTT says whether any round trip is known.
func (w *World) HasRTT() bool {
	return slices.ContainsFunc(w.spec.Links[:], func(l model.Link) bool { return l.RTT > 0 })
}

// RTT is the round trip between two nodes.
func (w *World) RTT(a, b int) time.Duration {
	return w.spec.Links[w.cluster.Nodes[a].DistanceTo(&w.cluster.Nodes[b])].RTT
}
