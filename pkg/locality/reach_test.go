package locality

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestScoreOfOneDataset(t *testing.T) {
	cases := map[string]struct {
		dataset Dataset
		want    map[string]int64
	}{
		"one gateway: node 100, then rack 75, zone 50, region 25; a rack of the same name elsewhere is no neighbour": {
			dataset: gateways("gw"),
			want:    map[string]int64{"gw": 100, "same-rack": 75, "same-zone": 50, "namesake-rack": 25, "far": 0, "bare": 0},
		},
		"the best of several gateways counts, not the last one": {
			dataset: gateways("gw", "far"),
			want:    map[string]int64{"gw": 100, "same-rack": 75, "far": 100, "namesake-rack": 25},
		},
		"a zone as a place: each of its nodes serves, its region is near": {
			dataset: Dataset{Replicas: []Replica{{At: Location{Key: "zone", Value: "a"}}}},
			want:    map[string]int64{"gw": 100, "same-zone": 100, "namesake-rack": 25, "far": 0},
		},
		"an unknown node serves nobody": {
			dataset: gateways("gone"),
			want:    map[string]int64{"gw": 0, "bare": 0},
		},
		"a node without topology labels serves itself and shares no tier": {
			dataset: gateways("bare"),
			want:    map[string]int64{"bare": 100, "gw": 0},
		},
		// 100 of 400 bytes: a quarter on the node, a quarter of 0.75 in the rack.
		"a quarter of the bytes in memory": {
			dataset: Dataset{SizeBytes: 400, Replicas: []Replica{holding("gw", 100, MediumMemory)}},
			want:    map[string]int64{"gw": 25, "same-rack": 19, "same-zone": 13, "namesake-rack": 6},
		},
		// A half on disk: 0.5 x 0.5 = 0.25. A half on SSD: 0.5 x 0.8 = 0.4. Together on one node 0.65.
		"the media of one node hold different bytes": {
			dataset: Dataset{SizeBytes: 400, Replicas: []Replica{holding("gw", 200, MediumHDD), holding("gw", 200, MediumSSD)}},
			want:    map[string]int64{"gw": 65, "same-rack": 49},
		},
		// Size unknown: the largest replica, 80 bytes, is taken for the whole.
		"without a size the most bytes held are the whole": {
			dataset: Dataset{Replicas: []Replica{holding("gw", 80, MediumMemory), holding("far", 20, MediumMemory)}},
			want:    map[string]int64{"gw": 100, "far": 25},
		},
		// Far holds all: 1 on the node. Same-zone holds a tenth: 0.1 itself, but 0.5 x 1 through gw in its zone.
		"much in the zone is better than little on the node": {
			dataset: Dataset{SizeBytes: 100, Replicas: []Replica{holding("gw", 100, MediumMemory), holding("same-zone", 10, MediumMemory)}},
			want:    map[string]int64{"gw": 100, "same-zone": 50},
		},
		"more bytes than there are, and fewer than none": {
			dataset: Dataset{SizeBytes: 100, Replicas: []Replica{holding("gw", 900, MediumMemory), holding("far", -5, MediumMemory)}},
			want:    map[string]int64{"gw": 100, "far": 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, rules := testCluster(), testRules()
			request := NewRequest([]*Reach{NewReach(DatasetKey{}, tc.dataset, rules, cluster)}, rules)
			for _, n := range cluster {
				want, ok := tc.want[n.Name]
				if got := request.Score(n); ok && got != want {
					t.Errorf("Score(%s) = %d, want %d", n.Name, got, want)
				}
			}
		})
	}
}

func TestDistance(t *testing.T) {
	cluster := testCluster()
	reach := NewReach(DatasetKey{}, gateways("gw"), testRules(), cluster)
	want := []Distance{0, 1, 2, 3, Nowhere, Nowhere}
	for i, n := range cluster {
		if got := reach.Distance(n); got != want[i] {
			t.Errorf("Distance(%s) = %d, want %d", n.Name, got, want[i])
		}
	}
}

// TestOverloadedGateway: with a falling ceiling the node loses its lead over the rack, then the rack over the
// zone, and in the end the whole region is equal.
func TestOverloadedGateway(t *testing.T) {
	cases := map[float64][4]int64{ // scores of gw, same-rack, same-zone, namesake-rack (same region)
		1:    {100, 75, 50, 25},
		0.75: {75, 75, 50, 25},
		0.6:  {60, 60, 50, 25},
		0.5:  {50, 50, 50, 25},
		0.2:  {20, 20, 20, 20},
	}
	for ceiling, want := range cases {
		cluster, rules := testCluster(), testRules()
		reach := NewReach(DatasetKey{}, gateways("gw"), rules, cluster)
		reach.LimitTo(ceiling)
		request := NewRequest([]*Reach{reach}, rules)
		for i := range want {
			if got := request.Score(cluster[i]); got != want[i] {
				t.Errorf("ceiling %v: Score(%s) = %d, want %d", ceiling, cluster[i].Name, got, want[i])
			}
		}
	}
}

// valueByDefinition is the documented formula, word by word and without any index.
func valueByDefinition(d Dataset, rules *Rules, all nodeList, n Node) float64 {
	shares := map[string]float64{} // what each node holds itself, its media added up
	wide := 0.0                    // the best of the domains' shares and tiers
	for _, replica := range d.Replicas {
		share := replica.fraction(d.size())
		if !replica.Gateway {
			share *= rules.mediumFactor(replica.Medium)
		}
		if share <= 0 {
			continue
		}
		for _, server := range all {
			switch {
			case replica.At.Key == HostnameKey && server.Name == replica.At.Value:
				shares[server.Name] = min(1, shares[server.Name]+share)
			case replica.At.Key != HostnameKey && server.Labels[replica.At.Key] == replica.At.Value:
				if server.Name == n.Name {
					wide = max(wide, share)
				}
				wide = max(wide, share*tierFactor(server, n, rules.Tiers))
			}
		}
	}
	best := max(wide, shares[n.Name])
	for _, server := range all {
		best = max(best, shares[server.Name]*tierFactor(server, n, rules.Tiers))
	}
	return best
}

// tierFactor is that of the nearest tier two nodes share: both carry its label, and they agree on it and on every
// wider one.
func tierFactor(a, b Node, tiers Tiers) float64 {
	for i := range tiers {
		if a.Labels[tiers[i].LabelKey] != "" && agree(a, b, tiers[i:]) {
			return tiers[i].Factor
		}
	}
	return 0
}

func agree(a, b Node, tiers Tiers) bool {
	for _, tier := range tiers {
		if a.Labels[tier.LabelKey] != b.Labels[tier.LabelKey] {
			return false
		}
	}
	return true
}

func TestValueEqualsItsDefinitionOnRandomClusters(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cluster, rules := randomCluster(rng), testRules()
		dataset := randomDataset(rng, len(cluster))
		reach := NewReach(DatasetKey{}, dataset, rules, cluster)
		for _, n := range cluster {
			path := rules.Tiers.path(n)
			got, from := reach.value(n, &path)
			want := valueByDefinition(dataset, rules, cluster, n)
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("seed %d, dataset %+v, node %v: value %v, by definition %v", seed, dataset, n, got, want)
			}
			if (from == Nowhere) != (got == 0) {
				t.Fatalf("seed %d: value %v comes from distance %d", seed, got, from)
			}
		}
	}
}
