package delay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func clustersAt(t *testing.T, s *Store, limit time.Duration, initial ...time.Duration) [][]string {
	t.Helper()
	clusters, err := NewLayers(s, initial).All(limit, testNow())
	if err != nil {
		t.Fatal(err)
	}
	return clusters
}

// TestLayersAreThePredecessors: its worked examples, and what was wrong with them.
func TestLayersAreThePredecessors(t *testing.T) {
	zero := matrixOf([]string{"e1", "e2", "e3"}, SourceFiles, []float64{0, 0, 9}, []float64{0, 0, 9}, []float64{9, 9, 0})
	chain := matrixOf([]string{"a", "b", "c", "d"}, SourceFiles,
		[]float64{0, 10, 20, 30}, []float64{10, 0, 10, 20}, []float64{20, 10, 0, 10}, []float64{30, 20, 10, 0})
	cases := map[string]struct {
		store   *Store
		max     time.Duration
		initial []time.Duration
		want    [][]string
	}{
		"11 ms": {triangle(), 11 * ms, nil, [][]string{{"e1", "e2"}, {"e3"}}},
		// e1 and e2 are the layer of 10 ms already, and e3 is 20 ms from e1.
		"13 ms":                      {triangle(), 13 * ms, nil, [][]string{{"e1", "e2"}, {"e3"}}},
		"25 ms":                      {triangle(), 25 * ms, nil, [][]string{{"e1", "e2", "e3"}}},
		"0 ms is a delay":            {zero, 5 * ms, nil, [][]string{{"e1", "e2"}, {"e3"}}},
		"a bound of 0 joins 0 ms":    {zero, 0, nil, [][]string{{"e1", "e2"}, {"e3"}}},
		"less than anything":         {triangle(), ms, nil, [][]string{{"e1"}, {"e2"}, {"e3"}}},
		"the largest clique first":   {chain, 20 * ms, nil, [][]string{{"a", "b", "c"}, {"d"}}},
		"a layer given beforehand":   {chain, 20 * ms, []time.Duration{10 * ms}, [][]string{{"a", "b"}, {"c", "d"}}},
		"layers above it do not act": {chain, 10 * ms, []time.Duration{20 * ms}, [][]string{{"a", "b"}, {"c", "d"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, clustersAt(t, tc.store, tc.max, tc.initial...)); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClusterOfAReference(t *testing.T) {
	s := triangle()
	layers := NewLayers(s, nil)
	for ref, want := range map[string][]string{"e1": {"e1", "e2"}, "e2": {"e1", "e2"}, "e3": {"e3"}} {
		cluster, err := layers.Cluster(ref, 13*ms, testNow())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, members(s, cluster)); diff != "" {
			t.Errorf("cluster of %s (-want +got):\n%s", ref, diff)
		}
	}
	if _, err := layers.Cluster("nobody", ms, testNow()); err == nil {
		t.Error("a node that does not exist has a cluster")
	}
	s.Update("e1", SourceAgent, []PeerSample{{Peer: "e2", Sample: answered(50 * ms)}, {Peer: "e3", Sample: answered(50 * ms)}}, testNow())
	s.Update("e2", SourceAgent, []PeerSample{{Peer: "e1", Sample: answered(50 * ms)}, {Peer: "e3", Sample: answered(12 * ms)}}, testNow())
	cluster, err := layers.Cluster("e2", 13*ms, testNow().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"e2", "e3"}, members(s, cluster)); diff != "" {
		t.Errorf("cluster of e2 after e1 moved away (-want +got):\n%s", diff)
	}
}

func TestTooManyNodesForLayers(t *testing.T) {
	s := NewStore()
	for _, name := range names(MaxLayerNodes + 1) {
		s.SetNode(name, "")
	}
	if _, err := NewLayers(s, nil).Cluster("node-00000", ms, testNow()); err == nil {
		t.Error("want an error that names the limit")
	}
}

// randomGraph is a graph as bits and as a table.
func randomGraph(n int, density float64, random *rand.Rand) (*graph, [][]bool) {
	g, table := newGraph(n), make([][]bool, n)
	for i := range table {
		table[i] = make([]bool, n)
		for j := range i {
			if random.Float64() < density {
				g.connect(i, j)
				table[i][j], table[j][i] = true, true
			}
		}
	}
	return g, table
}

// dumbLargestClique tries every set of vertices.
func dumbLargestClique(table [][]bool) (size int) {
	for set := range 1 << len(table) {
		count, complete := 0, true
		for i := range table {
			if set>>i&1 == 0 {
				continue
			}
			count++
			for j := range i {
				complete = complete && (set>>j&1 == 0 || table[i][j])
			}
		}
		if complete {
			size = max(size, count)
		}
	}
	return size
}

func TestLargestCliqueAgreesWithTryingEverySet(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		g, table := randomGraph(1+random.IntN(11), random.Float64(), random)
		clique := g.largestClique(g.all())
		for i, a := range clique {
			for _, b := range clique[:i] {
				if !table[a][b] {
					t.Fatalf("%v is no clique: %d and %d are not connected", clique, a, b)
				}
			}
		}
		if want := dumbLargestClique(table); len(clique) != want {
			t.Fatalf("clique of %d, want %d", len(clique), want)
		}
	}
}

// TestClustersKeepTheirPromise: on random matrices every node is in one cluster, and within a cluster every two nodes
// are within the bound, so that a bound with layers never takes a node that the exact radius does not.
func TestClustersKeepTheirPromise(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 8))
		tp := plane(12, 30, random)
		s := NewStore()
		tp.load(s, 11, random)
		limit := time.Duration(random.IntN(40)) * ms
		var all []string
		for _, cluster := range clustersAt(t, s, limit, 4*ms, 9*ms) {
			all = append(all, cluster...)
			for _, ref := range cluster {
				exact := within(t, s, ref, Query{Max: limit, OnUnknown: PolicyReject})
				for _, other := range cluster {
					if !slices.Contains(exact, other) {
						t.Fatalf("seed %d: %s is in the cluster of %s, and not within %s of it", seed, other, ref, limit)
					}
				}
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, tp.names) {
			t.Fatalf("seed %d: clusters hold %v, want every node once", seed, all)
		}
	}
}

// TestCompleteLayers compares the union of sorted paths with looking at every delay anew.
func TestCompleteLayers(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 1))
	for range 100 {
		n := 2 + random.IntN(7)
		m := &layerMatrix{ids: make([]NodeID, n), delays: make([][]uint32, n)}
		for i := range m.delays {
			m.delays[i] = slices.Repeat([]uint32{none}, n)
		}
		for i := range n {
			for j := range i {
				if random.IntN(8) > 0 {
					m.widen(i, j, uint32(random.IntN(4)))
				}
			}
		}
		got := map[uint32][][]int{}
		m.complete(got)
		for d := range uint32(4) {
			want, complete := m.dumbGroups(d)
			clusters, ok := got[d]
			if ok && (!complete || !cmp.Equal(want, clusters)) {
				t.Fatalf("layer %d of %v: %v, want %v (complete: %v)", d, m.delays, clusters, want, complete)
			}
			if used := m.uses(d); complete && used && !ok {
				t.Fatalf("layer %d of %v is missing", d, m.delays)
			}
		}
	}
}

func (m *layerMatrix) uses(d uint32) bool {
	return slices.ContainsFunc(m.delays, func(row []uint32) bool { return slices.Contains(row, d) })
}

// dumbGroups follows paths up to d from each node, and looks at every pair.
func (m *layerMatrix) dumbGroups(d uint32) (list [][]int, complete bool) {
	complete = true
	seen := make([]bool, len(m.ids))
	for start := range m.ids {
		if seen[start] {
			continue
		}
		group := []int{start}
		seen[start] = true
		for at := 0; at < len(group); at++ {
			for next, delay := range m.delays[group[at]] {
				if delay <= d && !seen[next] {
					seen[next] = true
					group = append(group, next)
				}
			}
		}
		slices.Sort(group)
		for _, i := range group {
			for _, j := range group {
				complete = complete && (i == j || m.delays[i][j] <= d)
			}
		}
		list = append(list, group)
	}
	return list, complete
}
