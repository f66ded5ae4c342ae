package locality

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// nodeList is the plainest NodeIndex there is: a walk over all nodes.
type nodeList []Node

func (l nodeList) Named(name string) (Node, bool) {
	for _, n := range l {
		if n.Name == name {
			return n, true
		}
	}
	return l.Member(Location{Key: HostnameKey, Value: name})
}

func (l nodeList) Member(at Location) (Node, bool) {
	for _, n := range l {
		if value, ok := n.Labels[at.Key]; ok && value == at.Value {
			return n, true
		}
	}
	return Node{}, false
}

// testTiers are the default tiers under short label keys.
func testTiers() Tiers {
	return Tiers{{LabelKey: "rack", Percent: 75}, {LabelKey: "zone", Percent: 50}, {LabelKey: "region", Percent: 25}}
}

func node(name, rack, zone, region string) Node {
	labels := map[string]string{HostnameKey: name}
	for key, value := range map[string]string{"rack": rack, "zone": zone, "region": region} {
		if value != "" {
			labels[key] = value
		}
	}
	return Node{Name: name, Labels: labels}
}

func hosts(names ...string) []Location {
	out := make([]Location, len(names))
	for i, name := range names {
		out[i] = Location{Key: HostnameKey, Value: name}
	}
	return out
}

// testCluster has two regions; region eu has zones a and b, zone a has racks r1 and r2. The name r1 is used
// again in zone b: racks are commonly numbered per zone.
func testCluster() nodeList {
	return nodeList{
		node("gw", "r1", "a", "eu"),
		node("same-rack", "r1", "a", "eu"),
		node("same-zone", "r2", "a", "eu"),
		node("namesake-rack", "r1", "b", "eu"),
		node("far", "r1", "c", "us"),
		node("bare", "", "", ""),
	}
}

func TestPercentByNearestSharedTier(t *testing.T) {
	cases := map[string]struct {
		placement Placement
		want      map[string]int64
	}{
		"one gateway: node 100, then rack 75, zone 50, region 25; a rack of the same name elsewhere is no neighbour": {
			placement: Placement{Gateways: hosts("gw")},
			want:      map[string]int64{"gw": 100, "same-rack": 75, "same-zone": 50, "namesake-rack": 25, "far": 0, "bare": 0},
		},
		"the best of several gateways counts, not the last one": {
			placement: Placement{Gateways: hosts("gw", "far")},
			want:      map[string]int64{"gw": 100, "same-rack": 75, "far": 100, "namesake-rack": 25},
		},
		"with a gateway the data locations do not count: the data is read through the gateway": {
			placement: Placement{Gateways: hosts("gw"), DataLocations: hosts("far")},
			want:      map[string]int64{"gw": 100, "far": 0},
		},
		"without a gateway the data locations serve": {
			placement: Placement{DataLocations: hosts("same-zone", "far")},
			want:      map[string]int64{"same-zone": 100, "far": 100, "gw": 50, "bare": 0},
		},
		"a zone as a gateway: each of its nodes serves, its region is near": {
			placement: Placement{Gateways: []Location{{Key: "zone", Value: "a"}}},
			want:      map[string]int64{"gw": 100, "same-zone": 100, "namesake-rack": 25, "far": 0},
		},
		"a location by a label that is no tier": {
			placement: Placement{Gateways: []Location{{Key: "cache-pool", Value: "x"}}},
			want:      map[string]int64{"gw": 0},
		},
		"an unknown node serves nobody": {
			placement: Placement{Gateways: hosts("gone")},
			want:      map[string]int64{"gw": 0, "bare": 0},
		},
		"a node without topology labels serves itself and shares no tier": {
			placement: Placement{Gateways: hosts("bare")},
			want:      map[string]int64{"bare": 100, "gw": 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := testCluster()
			reach := NewReach(tc.placement, testTiers(), cluster)
			for _, n := range cluster {
				want, ok := tc.want[n.Name]
				if got := reach.Percent(n); ok && got != want {
					t.Errorf("Percent(%s) = %d, want %d", n.Name, got, want)
				}
			}
		})
	}
}

func TestEmptyReachMeansNothingServes(t *testing.T) {
	if !NewReach(Placement{Gateways: hosts("gone")}, testTiers(), testCluster()).Empty() {
		t.Error("a placement on unknown nodes only: want an empty reach")
	}
	if NewReach(Placement{Gateways: hosts("gw")}, testTiers(), testCluster()).Empty() {
		t.Error("a placement on a known node: want a reach that is not empty")
	}
}

func TestHostnameLabelThatDiffersFromTheNodeName(t *testing.T) {
	renamed := Node{Name: "node-7", Labels: map[string]string{HostnameKey: "ip-10-0-0-7"}}
	reach := NewReach(Placement{Gateways: hosts("ip-10-0-0-7")}, testTiers(), nodeList{renamed})
	if got := reach.Percent(renamed); got != FullPercent {
		t.Errorf("Percent = %d, want %d", got, FullPercent)
	}
}

func TestRequestScoreIsTheMeanOfItsDatasets(t *testing.T) {
	cluster := testCluster()
	reachOf := func(gateway string) *Reach {
		return NewReach(Placement{Gateways: hosts(gateway)}, testTiers(), cluster)
	}
	cases := map[string]struct {
		request Request
		node    Node
		want    int64
	}{
		"nothing asked for":                    {request: nil, node: cluster[0], want: 0},
		"both on the node: (100+100)/2":        {request: Request{reachOf("gw"), reachOf("gw")}, node: cluster[0], want: 100},
		"one here, one far: (100+0)/2":         {request: Request{reachOf("gw"), reachOf("far")}, node: cluster[0], want: 50},
		"one in the rack, one here: 87.5 → 88": {request: Request{reachOf("gw"), reachOf("same-rack")}, node: cluster[0], want: 88},
		"three, one in the zone: 50/3 → 17":    {request: Request{reachOf("gw"), reachOf("far"), reachOf("bare")}, node: cluster[2], want: 17},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.request.Score(tc.node); got != tc.want {
				t.Errorf("Score = %d, want %d", got, tc.want)
			}
		})
	}
}

// percentByDefinition is the documented rule, word by word and without any index.
func percentByDefinition(p Placement, tiers Tiers, all nodeList, n Node) int64 {
	best := int64(0)
	for _, at := range p.Serving() {
		for _, server := range all {
			named := at.Key == HostnameKey && (server.Name == at.Value || server.Labels[HostnameKey] == at.Value)
			value, labelled := server.Labels[at.Key]
			if !named && (!labelled || value != at.Value) {
				continue
			}
			if server.Name == n.Name {
				return FullPercent
			}
			for i := range tiers {
				if sharesTier(server, n, tiers[i:]) {
					best = max(best, tiers[i].Percent)
					break
				}
			}
		}
	}
	return best
}

// sharesTier: both carry the first tier's label, and they agree on it and on every wider one.
func sharesTier(a, b Node, fromHere Tiers) bool {
	if a.Labels[fromHere[0].LabelKey] == "" {
		return false
	}
	for _, tier := range fromHere {
		if a.Labels[tier.LabelKey] != b.Labels[tier.LabelKey] {
			return false
		}
	}
	return true
}

func TestPercentEqualsItsDefinitionOnRandomClusters(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cluster := randomCluster(rng)
		placement := randomPlacement(rng, len(cluster))
		reach := NewReach(placement, testTiers(), cluster)
		for _, n := range cluster {
			got, want := reach.Percent(n), percentByDefinition(placement, testTiers(), cluster, n)
			if got != want {
				t.Fatalf("seed %d, placement %v, node %v: Percent = %d, by definition %d", seed, placement, n, got, want)
			}
		}
	}
}

// randomCluster keeps the assumption NewReach makes: all nodes of one zone are in one region.
func randomCluster(rng *rand.Rand) nodeList {
	var cluster nodeList
	for i := range 1 + rng.IntN(12) {
		zone, rack, region := "", "", ""
		if rng.IntN(4) > 0 {
			z := rng.IntN(4)
			zone, region = fmt.Sprint("z", z), fmt.Sprint("g", z%2)
		}
		if rng.IntN(3) > 0 {
			rack = fmt.Sprint("r", rng.IntN(3))
		}
		cluster = append(cluster, node(fmt.Sprint("n", i), rack, zone, region))
	}
	return cluster
}

func randomPlacement(rng *rand.Rand, nodes int) Placement {
	var out Placement
	for range rng.IntN(4) {
		at := Location{Key: HostnameKey, Value: fmt.Sprint("n", rng.IntN(nodes+2))}
		if rng.IntN(4) == 0 {
			at = Location{Key: "zone", Value: fmt.Sprint("z", rng.IntN(4))}
		}
		if rng.IntN(2) == 0 {
			out.Gateways = append(out.Gateways, at)
		} else {
			out.DataLocations = append(out.DataLocations, at)
		}
	}
	return out
}

func TestScoreDoesNotAllocate(t *testing.T) {
	cluster := testCluster()
	request := Request{NewReach(Placement{Gateways: hosts("gw", "far")}, testTiers(), cluster)}
	if n := testing.AllocsPerRun(100, func() { request.Score(cluster[2]) }); n != 0 {
		t.Errorf("Score allocates %v times per call, want 0", n)
	}
}

// BenchmarkScore: a pod with 4 datasets of 10 placements each; the budget is 200 ns a node, 0 allocations.
func BenchmarkScore(b *testing.B) {
	cluster := largeCluster(5000)
	request := make(Request, 0, 4)
	for d := range 4 {
		request = append(request, NewReach(placementOn(d, 10), testTiers(), mapIndex(cluster)))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		request.Score(cluster[i%len(cluster)])
		i++
	}
}

// BenchmarkNewReach: what a pod costs once per dataset of 10 placements, at 5,000 nodes.
func BenchmarkNewReach(b *testing.B) {
	index := mapIndex(largeCluster(5000))
	placement, tiers := placementOn(1, 10), testTiers()
	b.ReportAllocs()
	for b.Loop() {
		NewReach(placement, tiers, index)
	}
}

type byName map[string]Node

func (m byName) Named(name string) (Node, bool)   { n, ok := m[name]; return n, ok }
func (m byName) Member(Location) (n Node, _ bool) { return n, false }

func mapIndex(cluster nodeList) byName {
	index := byName{}
	for _, n := range cluster {
		index[n.Name] = n
	}
	return index
}

func largeCluster(size int) nodeList {
	cluster := make(nodeList, size)
	for i := range cluster {
		cluster[i] = node(fmt.Sprint("n", i), fmt.Sprint("r", i%40), fmt.Sprint("z", i%20), fmt.Sprint("g", i%4))
	}
	return cluster
}

func placementOn(seed, count int) Placement {
	var p Placement
	for i := range count {
		p.Gateways = append(p.Gateways, hosts(fmt.Sprint("n", (seed*997+i*131)%5000))...)
	}
	return p
}
