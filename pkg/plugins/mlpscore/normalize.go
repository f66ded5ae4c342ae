package mlpscore

import (
	"context"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// NormalizeScore gives 100 to one node and at most 99 to the others: outputs are spread over 0 to 99, and of the nodes
// with the highest one the first in the order of names' hashes wins.
func (pl *MLPScore) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	if len(scores) == 0 {
		return nil
	}
	best, lowest := 0, scores[0].Score
	for i := range scores {
		lowest = min(lowest, scores[i].Score)
		if beats(&scores[i], &scores[best]) {
			best = i
		}
	}
	const others = fwk.MaxScore - 1
	span := scores[best].Score - lowest
	for i := range scores {
		switch {
		case i == best:
		case span == 0:
			scores[i].Score = others
		default:
			scores[i].Score = (scores[i].Score - lowest) * others / span
		}
	}
	scores[best].Score = fwk.MaxScore
	return nil
}

// beats orders nodes by output, and equals by the hash of their names.
func beats(a, b *fwk.NodeScore) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	return a.Name != b.Name && before(a.Name, b.Name)
}

// before is a fixed pseudo-random order: that of the names' hashes, which is the same in every process. Names decide
// between equal hashes.
func before(a, b string) bool {
	if x, y := order(a), order(b); x != y {
		return x < y
	}
	return a < b
}

func order(name string) uint64 {
	h := fnv.New64a()
	// Never fails. The conversion does not allocate: the hash does not keep it.
	_, _ = h.Write([]byte(name))
	// Names that differ in their last character have hashes that differ little: the high bits are mixed in.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}
