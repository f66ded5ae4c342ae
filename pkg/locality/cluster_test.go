package locality

import (
	"fmt"
	"math/rand/v2"
)

// nodeList is the plainest NodeIndex there is: a walk over all nodes.
type nodeList []Node

func (l nodeList) Named(name string) (Node, bool) {
	for _, n := range l {
		if n.Name == name {
			return n, true
		}
	}
	return l.Member(OnNode(name))
}

func (l nodeList) Member(at Location) (Node, bool) {
	for _, n := range l {
		if value, ok := n.Labels[at.Key]; ok && value == at.Value {
			return n, true
		}
	}
	return Node{}, false
}

// byName is the NodeIndex of benchmarks.
type byName map[string]Node

func (m byName) Named(name string) (Node, bool)   { n, ok := m[name]; return n, ok }
func (m byName) Member(Location) (n Node, _ bool) { return n, false }

// testRules have the default tiers under short label keys, and media whose factors make round numbers.
func testRules() *Rules {
	r := &Rules{Tiers: Tiers{{LabelKey: "rack", Factor: 0.75}, {LabelKey: "zone", Factor: 0.5}, {LabelKey: "region", Factor: 0.25}}}
	r.SetMedium(MediumMemory, 1)
	r.SetMedium(MediumSSD, 0.8)
	r.SetMedium(MediumHDD, 0.5)
	return r
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

// gateways is a dataset that those nodes serve.
func gateways(nodes ...string) Dataset {
	var d Dataset
	for _, name := range nodes {
		d.Replicas = append(d.Replicas, Replica{At: OnNode(name), Gateway: true})
	}
	return d
}

// holding is a replica of so many bytes.
func holding(name string, bytes int64, medium Medium) Replica {
	return Replica{At: OnNode(name), Bytes: bytes, BytesKnown: true, Medium: medium}
}

// randomCluster keeps the assumption that NewReach makes: all nodes of one zone are in one region.
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

func randomDataset(rng *rand.Rand, nodes int) Dataset {
	var out Dataset
	for range rng.IntN(5) {
		r := Replica{At: OnNode(fmt.Sprint("n", rng.IntN(nodes+2))), Medium: Medium(rng.IntN(int(mediumCount)))}
		switch rng.IntN(4) {
		case 0:
			r.Gateway = true
		case 1:
			r.Bytes, r.BytesKnown = rng.Int64N(1000)-50, true
		case 2:
			r.At = Location{Key: "zone", Value: fmt.Sprint("z", rng.IntN(4))}
		}
		out.Replicas = append(out.Replicas, r)
	}
	if rng.IntN(2) == 0 {
		out.SizeBytes = rng.Int64N(800)
	}
	return out
}

// largeCluster is the cluster of the budgets: racks of 125 nodes in 20 zones and 4 regions.
func largeCluster(size int) (nodeList, byName) {
	cluster, index := make(nodeList, size), byName{}
	for i := range cluster {
		cluster[i] = node(fmt.Sprint("n", i), fmt.Sprint("r", i%40), fmt.Sprint("z", i%20), fmt.Sprint("g", i%4))
		index[cluster[i].Name] = cluster[i]
	}
	return cluster, index
}

func largeDataset(seed, replicas int) Dataset {
	d := Dataset{SizeBytes: 1 << 40}
	for i := range replicas {
		d.Replicas = append(d.Replicas, holding(fmt.Sprint("n", (seed*997+i*131)%5000), int64(1+i)<<35, MediumSSD))
	}
	return d
}
