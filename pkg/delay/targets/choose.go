package targets

import (
	"cmp"
	"slices"
)

// Choice says how many nodes are probed beside the references.
type Choice struct {
	// Peers is how many, at least 0.
	Peers int
	// ZonePeers is how many of them may be of the node's own zone while there are enough others, at most Peers.
	ZonePeers int
	// Period is the number of the present period: another number takes other nodes.
	Period uint64
}

// Choose returns the nodes that the node called self, which is in the zone given, probes: all references, then the nearest
// in the sense of the hash of its own zone and of the others. The node itself is never among them. The result is in no
// particular order of importance but always the same for the same arguments, whatever the order of nodes.
//
// If its zone has fewer nodes than it may take, more others are taken, and the other way round. Time and memory grow with
// the number of nodes.
func Choose(self, zone string, nodes []Node, c Choice) []Node {
	references, near, far := []Node{}, []ranked{}, []ranked{}
	for i := range nodes {
		node := &nodes[i]
		switch {
		case node.Name == self:
		case node.Reference:
			references = append(references, *node)
		case zone != "" && node.Zone == zone:
			near = append(near, ranked{node, weight(self, node.Name, c.Period)})
		default:
			far = append(far, ranked{node, weight(self, node.Name, c.Period)})
		}
	}
	slices.SortFunc(references, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(near, byRank)
	slices.SortFunc(far, byRank)

	fromZone := min(c.ZonePeers, c.Peers, len(near))
	fromFar := min(c.Peers-fromZone, len(far))
	fromZone = min(c.Peers-fromFar, len(near))
	for _, r := range slices.Concat(near[:fromZone], far[:fromFar]) {
		references = append(references, *r.node)
	}
	return references
}

// Sample returns at most n of the nodes: always the same ones of the same nodes, and when a node comes or goes at most one
// other changes. The result is ordered by name; nodes is left alone.
func Sample(nodes []Node, n int) []Node {
	all := make([]ranked, 0, len(nodes))
	for i := range nodes {
		all = append(all, ranked{&nodes[i], weight("", nodes[i].Name, 0)})
	}
	slices.SortFunc(all, byRank)
	sample := make([]Node, 0, min(n, len(all)))
	for _, r := range all[:min(n, len(all))] {
		sample = append(sample, *r.node)
	}
	slices.SortFunc(sample, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return sample
}

type ranked struct {
	node   *Node
	weight uint64
}

// byRank puts the largest weight first. Names break ties, so that the order of the input never matters.
func byRank(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.node.Name, b.node.Name))
}

// weight is the hash of a pair of names and a period: FNV-1a over all of them, then the finalizer of SplitMix64, because
// FNV alone leaves the hashes of names that differ in their last letter close to each other, and here the order counts.
func weight(a, b string, period uint64) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	add := func(c byte) { h = (h ^ uint64(c)) * prime }
	for i := range len(a) {
		add(a[i])
	}
	add(0)
	for i := range len(b) {
		add(b[i])
	}
	h ^= period * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
