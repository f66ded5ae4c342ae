package locality

import "slices"

// Reach tells how much of one dataset is how near to any node.
type Reach struct {
	Key     DatasetKey
	weight  float64 // size in bytes; 0: unknown
	rules   *Rules
	gateway bool // some replica is a gateway
	// ceiling limits the worth of every tier, 0 to 1. It is 1 but for overloaded gateways.
	ceiling float64

	nodes   map[string]float64 // by name: the share held or served there
	groups  []group
	domains domain
}

// group is a topology domain that serves as a whole: every node in it counts as serving.
type group struct {
	at    Location
	value float64
}

// domain is a node of the tree region -> zone -> rack of places that serve the dataset. The children's keys are
// label values of the next narrower tier; "" stands for a missing label.
type domain struct {
	best     float64 // the largest share that one place in the domain holds
	children map[string]*domain
}

// NewReach compiles a dataset. Replicas at places without a usable node are dropped: nothing is served from
// there. rules must not change afterwards. The cost is linear in the number of replicas.
func NewReach(key DatasetKey, d Dataset, rules *Rules, index NodeIndex) *Reach {
	r := &Reach{
		Key: key, weight: float64(max(0, d.SizeBytes)), rules: rules, gateway: d.HasGateway(), ceiling: 1,
		nodes: make(map[string]float64, len(d.Replicas)),
	}
	size := d.size()
	for _, replica := range d.Replicas {
		value := replica.fraction(size)
		if !replica.Gateway {
			value *= rules.mediumFactor(replica.Medium)
		}
		if value > 0 {
			r.add(replica, value, index)
		}
	}
	return r
}

func (r *Reach) add(replica Replica, value float64, index NodeIndex) {
	at := replica.At
	tiered := replica.Gateway || !r.rules.compatible // the fork knows no neighbourhood of data locations
	if at.Key == HostnameKey {
		if node, ok := index.Named(at.Value); ok {
			// The media of one node hold different bytes, so their shares add up.
			r.nodes[node.Name] = min(1, r.nodes[node.Name]+value)
			if tiered {
				r.addDomains(node, r.nodes[node.Name])
			}
		}
		return
	}
	// The domain's nodes agree on the wider tiers, so any one of them stands for all.
	if member, ok := index.Member(at); ok {
		r.groups = append(r.groups, group{at: at, value: value})
		if tiered {
			r.addDomains(member, value)
		}
	}
}

func (r *Reach) addDomains(node Node, value float64) {
	at, path := &r.domains, r.rules.Tiers.path(node)
	for i := range slices.Backward(r.rules.Tiers) {
		if path[i] == "" && r.rules.compatible {
			return
		}
		child := at.children[path[i]]
		if child == nil {
			child = &domain{}
			if at.children == nil {
				at.children = map[string]*domain{}
			}
			at.children[path[i]] = child
		}
		child.best = max(child.best, value)
		at = child
	}
}

// LimitTo lowers what every tier is worth to at most ceiling, 0 to 1. With a falling ceiling first the node loses
// its advantage over its rack, then the rack over the zone, and so on: readers spread outwards tier by tier.
func (r *Reach) LimitTo(ceiling float64) { r.ceiling = max(0, min(r.ceiling, ceiling)) }

// Places returns the number of nodes and domains that serve the dataset.
func (r *Reach) Places() int { return len(r.nodes) + len(r.groups) }

// HasGateway reports whether the dataset is read through gateways.
func (r *Reach) HasGateway() bool { return r.gateway }

// SizeBytes returns the dataset's size, 0 when it is unknown.
func (r *Reach) SizeBytes() float64 { return r.weight }

// Empty reports that no usable node serves the dataset.
func (r *Reach) Empty() bool { return r.Places() == 0 }

// Nodes returns the names of the nodes that serve the dataset, or false when domains serve it, whose nodes are
// not listed. The map is shared: its keys are only to be read.
func (r *Reach) Nodes() (names map[string]float64, ok bool) { return r.nodes, len(r.groups) == 0 }

// Held returns the share of the dataset, 0 to 1, that is on the node itself, weighed by its medium.
func (r *Reach) Held(node Node) float64 {
	share := r.nodes[node.Name]
	for _, g := range r.groups {
		if value, ok := node.Labels[g.at.Key]; ok && value == g.at.Value {
			share = max(share, g.value)
		}
	}
	return share
}

// Distance is how far the nearest replica is: 0 on the node itself, i for the i-th tier (counted from 1).
type Distance int

// Nowhere is the distance to a dataset that shares no tier with the node. It is larger than every tier's.
const Nowhere Distance = MaxTiers + 1

// Distance returns the distance from the node to the nearest replica, however little of the dataset that holds.
func (r *Reach) Distance(node Node) Distance {
	if r.Held(node) > 0 {
		return 0
	}
	nearest, at, path := Nowhere, &r.domains, r.rules.Tiers.path(node)
	for i := range slices.Backward(r.rules.Tiers) {
		if at = at.children[path[i]]; at == nil {
			break
		}
		if path[i] != "" {
			nearest = Distance(i + 1)
		}
	}
	return nearest
}

// Term is one dataset's part in a node's score.
type Term struct {
	Dataset DatasetKey
	// Weight is the dataset's share in the pod's bytes, 0 to 1.
	Weight float64
	// Value is the share of the dataset's bytes that the node saves, 0 to 1.
	Value float64
	// From is the distance to the replica that Value counts.
	From Distance
}

// value returns the best replica's worth and its distance.
func (r *Reach) value(node Node, path *path) (value float64, from Distance) {
	value, from = min(r.Held(node), r.ceiling), 0
	if value == 0 {
		from = Nowhere
	}
	at := &r.domains
	for i := range slices.Backward(r.rules.Tiers) {
		if at = at.children[path[i]]; at == nil {
			break
		}
		if path[i] == "" {
			continue
		}
		worth := at.best * min(r.rules.Tiers[i].Factor, r.ceiling)
		if worth > value || worth == value && worth > 0 && Distance(i+1) < from {
			value, from = worth, Distance(i+1)
		}
	}
	return value, from
}
