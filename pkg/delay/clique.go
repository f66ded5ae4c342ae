package delay

import "slices"

// cliqueSteps bounds the search for a largest clique, which is exponential in the worst case. When it is used up the
// largest that was found counts.
const cliqueSteps = 200_000

// join makes clusters of a layer from those of a lower one: clusters are within the limit of each other if all their nodes
// are.
func (m *layerMatrix) join(below [][]int, limit uint32) [][]int {
	g := newGraph(len(below))
	for a := range below {
		for b := range a {
			if m.linked(below[a], below[b], limit) {
				g.connect(a, b)
			}
		}
	}
	var clusters [][]int
	for left := g.all(); left.Count() > 0; {
		var cluster []int
		for _, vertex := range g.largestClique(left) {
			left[vertex/wordBits] &^= 1 << (vertex % wordBits)
			cluster = append(cluster, below[vertex]...)
		}
		slices.Sort(cluster)
		clusters = append(clusters, cluster)
	}
	return clusters
}

func (m *layerMatrix) linked(a, b []int, limit uint32) bool {
	for _, i := range a {
		for _, j := range b {
			if d := m.delays[i][j]; d == none || d > limit {
				return false
			}
		}
	}
	return true
}

// graph is an undirected graph of numbered vertices.
type graph struct{ neighbours []Bits }

func newGraph(n int) *graph {
	g := &graph{neighbours: make([]Bits, n)}
	for i := range g.neighbours {
		g.neighbours[i] = newBits(n)
	}
	return g
}

func (g *graph) connect(a, b int) {
	g.neighbours[a].add(NodeID(b))
	g.neighbours[b].add(NodeID(a))
}

func (g *graph) all() Bits {
	all := newBits(len(g.neighbours))
	for i := range g.neighbours {
		all.add(NodeID(i))
	}
	return all
}

// cliqueSearch is a branch and bound in the order of the vertices, so that of the largest cliques the one with the
// lowest numbers is found first. What cannot become larger than the best is cut off: a clique has at most one vertex of
// each colour (Tomita, Seki, "An efficient branch-and-bound algorithm for finding a maximum clique", 2003).
type cliqueSearch struct {
	graph *graph
	best  []int
	steps int
}

func (g *graph) largestClique(among Bits) []int {
	s := &cliqueSearch{graph: g, steps: cliqueSteps}
	s.extend(nil, among)
	return s.best
}

func (s *cliqueSearch) extend(clique []int, candidates Bits) {
	if len(clique) > len(s.best) {
		s.best = slices.Clone(clique)
	}
	if s.steps--; s.steps <= 0 || len(clique)+s.colours(candidates) <= len(s.best) {
		return
	}
	left := slices.Clone(candidates)
	for vertex := range left.members() {
		if len(clique)+left.Count() <= len(s.best) {
			return
		}
		s.extend(append(clique, vertex), left.And(s.graph.neighbours[vertex]))
		left[vertex/wordBits] &^= 1 << (vertex % wordBits)
	}
}

// colours returns with how many colours a greedy colouring of the vertices gets by.
func (s *cliqueSearch) colours(vertices Bits) (count int) {
	left := slices.Clone(vertices)
	for left.Count() > 0 {
		count++
		class := slices.Clone(left)
		for vertex := range class.members() {
			if !class.Has(NodeID(vertex)) {
				continue // a neighbour of one that is in the class
			}
			left[vertex/wordBits] &^= 1 << (vertex % wordBits)
			for i, word := range s.graph.neighbours[vertex] {
				class[i] &^= word
			}
		}
	}
	return count
}
