package world

import "slices"

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
