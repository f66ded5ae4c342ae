package locality

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func reachesOf(rules *Rules, cluster nodeList, datasets ...Dataset) []*Reach {
	var out []*Reach
	for i, d := range datasets {
		out = append(out, NewReach(DatasetKey{Name: string(rune('a' + i))}, d, rules, cluster))
	}
	return out
}

func sized(size int64, d Dataset) Dataset {
	d.SizeBytes = size
	return d
}

func TestScoreOfSeveralDatasets(t *testing.T) {
	cases := map[string]struct {
		datasets []Dataset
		want     int64 // of node gw
	}{
		"nothing asked for":                                 {want: 0},
		"one here, one far: (100+0)/2":                      {datasets: []Dataset{gateways("gw"), gateways("far")}, want: 50},
		"one here, one in the rack: (100+75)/2 = 87.5 → 88": {datasets: []Dataset{gateways("gw"), gateways("same-rack")}, want: 88},
		"three of which two are far: 100/3 = 33.3 → 33":     {datasets: []Dataset{gateways("gw"), gateways("far"), gateways("bare")}, want: 33},
		"the larger one weighs more: (3x100 + 1x0)/4": {
			datasets: []Dataset{sized(300, gateways("gw")), sized(100, gateways("far"))}, want: 75,
		},
		"one without a size weighs like the mean of the others: (300x0 + 100x0 + 200x100)/600": {
			datasets: []Dataset{sized(300, gateways("far")), sized(100, gateways("far")), gateways("gw")}, want: 33,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, rules := testCluster(), testRules()
			request := NewRequest(reachesOf(rules, cluster, tc.datasets...), rules)
			if got := request.Score(cluster[0]); got != tc.want {
				t.Errorf("Score = %d, want %d", got, tc.want)
			}
			if got := request.Explain(cluster[0]).Score; got != tc.want {
				t.Errorf("Explain says %d, want the same %d", got, tc.want)
			}
		})
	}
}

func TestExplainGivesTheTerms(t *testing.T) {
	cluster, rules := testCluster(), testRules()
	request := NewRequest(reachesOf(rules, cluster, sized(300, gateways("same-zone")), sized(100, gateways("gw"))), rules)
	want := Explanation{Score: 63, Terms: []Term{ // 0.75 x 0.5 + 0.25 x 1 = 0.625
		{Dataset: DatasetKey{Name: "a"}, Weight: 0.75, Value: 0.5, From: 2},
		{Dataset: DatasetKey{Name: "b"}, Weight: 0.25, Value: 1, From: 0},
	}}
	if diff := cmp.Diff(want, request.Explain(cluster[0])); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}

// TestCompatible: the vectors of the CacheAware fork, with the best gateway in place of the last.
func TestCompatible(t *testing.T) {
	locations := func(nodes ...string) (d Dataset) {
		for _, name := range nodes {
			d.Replicas = append(d.Replicas, Replica{At: OnNode(name)})
		}
		return d
	}
	onlyRegion := node("only-region", "", "", "eu")
	onlyZone := node("only-zone", "", "a", "")
	cases := map[string]struct {
		datasets []Dataset
		want     map[string]int64
	}{
		"gateway node 100, same zone and region 50, same region only 0": {
			datasets: []Dataset{gateways("gw")},
			want:     map[string]int64{"gw": 100, "same-rack": 50, "same-zone": 50, "namesake-rack": 0, "only-region": 0, "only-zone": 0},
		},
		"zones without a region are no match, not even with each other": {
			datasets: []Dataset{gateways("only-zone")},
			want:     map[string]int64{"only-zone": 100, "gw": 0},
		},
		"data locations: 100 there, else 0, in the same zone too": {
			datasets: []Dataset{locations("same-zone", "far")},
			want:     map[string]int64{"same-zone": 100, "far": 100, "bare": 0, "gw": 0},
		},
		"two gateways: the best one counts, in whatever order": {
			datasets: []Dataset{gateways("gw", "far")},
			want:     map[string]int64{"gw": 100, "far": 100, "same-zone": 50},
		},
		"several datasets are one pool": {
			datasets: []Dataset{gateways("gw"), gateways("far")},
			want:     map[string]int64{"gw": 100, "far": 100, "same-zone": 50},
		},
		"where one dataset has a gateway, another's data locations do not count": {
			datasets: []Dataset{gateways("gw"), locations("far")},
			want:     map[string]int64{"gw": 100, "far": 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, rules := append(testCluster(), onlyRegion, onlyZone), Compatible("zone", "region")
			request := NewRequest(reachesOf(&rules, cluster, tc.datasets...), &rules)
			for _, n := range cluster {
				want, ok := tc.want[n.Name]
				if got := request.Score(n); ok && got != want {
					t.Errorf("Score(%s) = %d, want %d", n.Name, got, want)
				}
			}
		})
	}
}

// TestScoreEqualsItsExplanation: Score takes the datasets together, Explain one by one.
func TestScoreEqualsItsExplanation(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		cluster, rules := randomCluster(rng), testRules()
		if seed%3 == 0 {
			*rules = Compatible("zone", "region")
		}
		var reaches []*Reach
		for range rng.IntN(5) {
			r := NewReach(DatasetKey{}, randomDataset(rng, len(cluster)), rules, cluster)
			if rng.IntN(3) == 0 {
				r.LimitTo(rng.Float64())
			}
			reaches = append(reaches, r)
		}
		request := NewRequest(reaches, rules)
		for _, n := range cluster {
			// The same numbers added in the same order: equal, not just close.
			if got, want := request.Score(n), request.Explain(n).Score; got != want {
				t.Fatalf("seed %d, node %v: Score %d, Explain %d", seed, n, got, want)
			}
		}
	}
}

func TestScoreDoesNotAllocate(t *testing.T) {
	cluster, rules := testCluster(), testRules()
	request := NewRequest(reachesOf(rules, cluster, gateways("gw"), gateways("far")), rules)
	if n := testing.AllocsPerRun(100, func() { request.Score(cluster[2]) }); n != 0 {
		t.Errorf("Score allocates %v times per call, want 0", n)
	}
}

// BenchmarkScore: a pod with 4 datasets of 10 replicas each, at 5,000 nodes. Budget: 200 ns a node, 0 allocations.
func BenchmarkScore(b *testing.B) {
	cluster, index := largeCluster(5000)
	rules := testRules()
	var reaches []*Reach
	for d := range 4 {
		reaches = append(reaches, NewReach(DatasetKey{}, largeDataset(d, 10), rules, index))
	}
	request := NewRequest(reaches, rules)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		request.Score(cluster[i%len(cluster)])
	}
}

// BenchmarkNewReach: what a dataset of 10 replicas costs a pod.
func BenchmarkNewReach(b *testing.B) {
	_, index := largeCluster(5000)
	rules, dataset := testRules(), largeDataset(1, 10)
	b.ReportAllocs()
	for b.Loop() {
		NewReach(DatasetKey{}, dataset, rules, index)
	}
}

// BenchmarkHome: what a cold dataset costs a pod with 5,000 candidates.
func BenchmarkHome(b *testing.B) {
	cluster, _ := largeCluster(5000)
	names := func(yield func(string) bool) {
		for i := range cluster {
			if !yield(cluster[i].Name) {
				return
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		Home(DatasetKey{Namespace: "team", Name: "images"}, names)
	}
}
