package delay

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// MaxLayerNodes is the number of nodes up to which clusters are made: the work grows with the pairs.
	MaxLayerNodes = 1024
	// layersFor is how long clusters of many nodes, more than fewNodes, are kept at least when round-trip times change.
	layersFor = 5 * time.Second
	fewNodes  = 128
)

// Layers divides the nodes into clusters as the predecessor does: within a cluster of the layer d every two nodes are
// within d of each other. A bound then holds for the reference's cluster only, so it loses nodes that are within the bound
// but in another cluster.
//
// Layer 0 of single nodes, the bounds given beforehand, and each delay at which the nodes fall apart into groups that are
// complete in themselves are layers from the start. A bound in between takes the largest layer that is not larger,
// and joins its clusters where they are within the bound altogether: the largest set of clusters that are all within the
// bound of each other first, then the largest of the rest, and so on. Of sets of one size the one with the lowest node
// numbers is taken. Unlike the predecessor's, the layers do not depend on the order in which pods came, and a delay of
// 0 ms is a delay.
type Layers struct {
	store   *Store
	initial []uint32

	mu                sync.Mutex
	built             time.Time
	changes, topology uint64
	matrix            *layerMatrix
	clusters          map[uint32][][]int // by layer
}

// NewLayers returns the clusters of the store's nodes, with layers to begin with, in rising order.
func NewLayers(s *Store, initial []time.Duration) *Layers {
	l := &Layers{store: s}
	for _, layer := range initial {
		l.initial = append(l.initial, micros(layer))
	}
	return l
}

// Cluster returns the nodes of the reference's cluster in the layer of a bound, as they were at most a few seconds ago.
// It is an error to ask for clusters of more than MaxLayerNodes nodes.
func (l *Layers) Cluster(ref string, limit time.Duration, now time.Time) (Bits, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refreshLocked(now)
	if len(l.matrix.ids) > MaxLayerNodes {
		return nil, fmt.Errorf("clusters are made of at most %d nodes, found %d", MaxLayerNodes, len(l.matrix.ids))
	}
	id, ok := l.store.Index().ID(ref)
	if !ok {
		return nil, fmt.Errorf("nothing is known of %q", ref)
	}
	members := newBits(int(id) + 1)
	for _, cluster := range l.layerLocked(uint32(min(limit, MaxDelay) / time.Microsecond)) {
		if slices.ContainsFunc(cluster, func(i int) bool { return l.matrix.ids[i] == id }) {
			members = newBits(int(slices.Max(l.matrix.ids)) + 1)
			for _, i := range cluster {
				members.add(l.matrix.ids[i])
			}
			break
		}
	}
	members.add(id)
	return members, nil
}

// All returns the names of the nodes of every cluster in the layer of a bound, for planning.
func (l *Layers) All(limit time.Duration, now time.Time) ([][]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refreshLocked(now)
	if len(l.matrix.ids) > MaxLayerNodes {
		return nil, fmt.Errorf("clusters are made of at most %d nodes, found %d", MaxLayerNodes, len(l.matrix.ids))
	}
	var clusters [][]string
	for _, cluster := range l.layerLocked(uint32(min(limit, MaxDelay) / time.Microsecond)) {
		names := make([]string, len(cluster))
		for at, i := range cluster {
			names[at] = l.matrix.names[i]
		}
		slices.Sort(names)
		clusters = append(clusters, names)
	}
	slices.SortFunc(clusters, slices.Compare)
	return clusters, nil
}

func (l *Layers) refreshLocked(now time.Time) {
	changes, topology := l.store.changes.Load(), l.store.topology.Load()
	if l.matrix != nil && topology == l.topology {
		young := len(l.matrix.ids) > fewNodes && now.Sub(l.built) < layersFor
		if changes == l.changes || young {
			return
		}
	}
	l.changes, l.topology, l.built = changes, topology, now
	l.matrix = l.store.layerMatrix()
	l.clusters = map[uint32][][]int{}
	if len(l.matrix.ids) > MaxLayerNodes {
		return
	}
	l.matrix.complete(l.clusters)
	for _, layer := range l.initial {
		l.layerLocked(layer)
	}
}

// layerLocked returns the clusters of a layer. Those made on the way are not kept, so that the answer does not depend on
// what was asked before, but for the initial layers.
func (l *Layers) layerLocked(layer uint32) [][]int {
	base, found := uint32(0), false
	for known := range l.clusters {
		if known <= layer && (!found || known > base) {
			base, found = known, true
		}
	}
	if found && base == layer {
		return l.clusters[layer]
	}
	below := l.clusters[base]
	if !found {
		below = l.matrix.singles()
	}
	clusters := l.matrix.join(below, layer)
	if slices.Contains(l.initial, layer) {
		l.clusters[layer] = clusters
	}
	return clusters
}

// layerMatrix is the matrix of the nodes of the cluster, symmetric: the longer of both directions, none when neither is
// known.
type layerMatrix struct {
	ids    []NodeID
	names  []string
	delays [][]uint32
}

func (s *Store) layerMatrix() *layerMatrix {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m := &layerMatrix{}
	at := make([]int, len(s.nodes))
	for id, n := range s.nodes {
		if at[id] = -1; n.present {
			at[id] = len(m.ids)
			m.ids, m.names = append(m.ids, NodeID(id)), append(m.names, n.name)
		}
	}
	if len(m.ids) > MaxLayerNodes {
		return m
	}
	m.delays = make([][]uint32, len(m.ids))
	for i := range m.delays {
		m.delays[i] = slices.Repeat([]uint32{none}, len(m.ids))
	}
	for i, id := range m.ids {
		row := s.nodes[id].row
		for k := range row {
			if j := at[row[k].peer]; j >= 0 && row[k].answered() {
				m.widen(i, j, row[k].p50)
			}
		}
	}
	return m
}

func (m *layerMatrix) widen(i, j int, delay uint32) {
	if known := m.delays[i][j]; known == none || delay > known {
		m.delays[i][j], m.delays[j][i] = delay, delay
	}
}

func (m *layerMatrix) singles() [][]int {
	clusters := make([][]int, len(m.ids))
	for i := range clusters {
		clusters[i] = []int{i}
	}
	return clusters
}

// complete finds each delay at which the groups of nodes connected by paths that are not longer are complete. Paths are
// added from the shortest on; the groups are complete when there are as many paths as pairs within groups.
func (m *layerMatrix) complete(clusters map[uint32][][]int) {
	type edge struct {
		i, j  int
		delay uint32
	}
	var edges []edge
	for i := range m.ids {
		for j := range i {
			if d := m.delays[i][j]; d != none {
				edges = append(edges, edge{i: i, j: j, delay: d})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.delay, b.delay) })
	groups := newGroups(len(m.ids))
	pairs := 0
	for k, e := range edges {
		pairs += groups.join(e.i, e.j)
		if last := k == len(edges)-1; (last || edges[k+1].delay > e.delay) && pairs == k+1 {
			clusters[e.delay] = groups.list()
		}
	}
}

// groups are disjoint sets of numbers.
type groups struct{ parent, size []int }

func newGroups(n int) *groups {
	g := &groups{parent: make([]int, n), size: make([]int, n)}
	for i := range n {
		g.parent[i], g.size[i] = i, 1
	}
	return g
}

func (g *groups) root(i int) int {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// join makes one group of two and returns how many pairs within groups there are more.
func (g *groups) join(i, j int) (pairs int) {
	a, b := g.root(i), g.root(j)
	if a == b {
		return 0
	}
	if g.size[a] < g.size[b] {
		a, b = b, a
	}
	pairs = g.size[a] * g.size[b]
	g.parent[b] = a
	g.size[a] += g.size[b]
	return pairs
}

func (g *groups) list() [][]int {
	at := map[int]int{}
	var list [][]int
	for i := range g.parent {
		root := g.root(i)
		if _, ok := at[root]; !ok {
			at[root] = len(list)
			list = append(list, nil)
		}
		list[at[root]] = append(list[at[root]], i)
	}
	return list
}
