package engine

import "github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"

// bellman keeps the recursive fragmentation of each node and computes it again when the node has changed.
type bellman struct {
	state    *occupancy.State
	memo     map[string]float64
	values   []float64
	versions []uint32
}

func newBellman(state *occupancy.State) *bellman {
	nodes := len(state.Cluster().Nodes)
	return &bellman{state: state, memo: map[string]float64{}, values: make([]float64, nodes), versions: make([]uint32, nodes)}
}

// sum is the cluster's, in milli.
func (b *bellman) sum() float64 {
	total := 0.0
	for i := range b.values {
		if version := b.state.Version(i); version != b.versions[i] {
			b.versions[i] = version
			b.values[i] = b.state.Meter().Bellman(b.state.Free(i), b.memo)
		}
		total += b.values[i]
	}
	return total
}
