package locality

// MaxTiers bounds the number of tiers of a [Tiers], so that a node's path through them needs no allocation.
const MaxTiers = 8

// Tier is a topology domain wider than a node, for example a zone.
type Tier struct {
	// LabelKey is the node label whose value names the domain.
	LabelKey string
	// Factor, between 0 and 1, is what a replica in the same domain is worth compared with one on the node.
	Factor float64
}

// Tiers are ordered nearest first, with falling factors; at most [MaxTiers].
type Tiers []Tier

// path is a node's label value at each tier, "" where the label is missing.
type path [MaxTiers]string

func (t Tiers) path(node Node) (p path) {
	for i := range t {
		p[i] = node.Labels[t[i].LabelKey]
	}
	return p
}

// Rules say what nearness is worth.
type Rules struct {
	Tiers Tiers
	// Media holds the factor, above 0 to 1, of each medium; an entry of 0 means 1.
	Media [mediumCount]float64
	// compatible makes a missing label match nothing, and lets a pod's best dataset count instead of their mean.
	compatible bool
}

// SetMedium sets the factor of a medium.
func (r *Rules) SetMedium(m Medium, factor float64) { r.Media[m] = factor }

func (r *Rules) mediumFactor(m Medium) float64 {
	if f := r.Media[min(m, mediumCount-1)]; f > 0 {
		return f
	}
	return 1
}

// Compatible returns the rules of the CacheAware fork for Datashim: 100 on the node of a gateway or data location;
// 50 where the zone and the region of a gateway's node both are present and equal; else 0. Several datasets are
// one pool of gateways. The fork lets the last gateway of the list decide; here the best one does.
func Compatible(zoneKey, regionKey string) Rules {
	return Rules{
		Tiers:      Tiers{{LabelKey: zoneKey, Factor: 0.5}, {LabelKey: regionKey, Factor: 0}},
		compatible: true,
	}
}

// Node is what locality needs to know of a node. Labels is only read.
type Node struct {
	Name   string
	Labels map[string]string
}

// NodeIndex finds nodes without a walk over all of them. Nodes that are not ready or closed to new pods are not
// found: nothing is served from there for long.
type NodeIndex interface {
	// Named returns the node of that name, or else the one with that hostname label: those who write placements
	// use either (Datashim's Ceph plugin writes node names under the hostname key).
	Named(name string) (Node, bool)
	// Member returns any one node at the location, or false when there is none.
	Member(at Location) (Node, bool)
}
