package locality

// MaxTiers bounds the number of tiers of a [Tiers], so that a node's path through them needs no allocation.
const MaxTiers = 8

// FullPercent is the score of a node that serves or holds the dataset itself.
const FullPercent = 100

// Tier is a topology domain wider than a node, for example a zone.
type Tier struct {
	// LabelKey is the node label whose value names the domain.
	LabelKey string
	// Percent is the score, 1 to 99, of a node whose nearest serving place is in the same domain.
	Percent int64
}

// Tiers are ordered nearest first; at most [MaxTiers].
type Tiers []Tier

// path is a node's label value at each tier, "" where the label is missing.
type path [MaxTiers]string

func (t Tiers) path(node Node) (p path) {
	for i := range t {
		p[i] = node.Labels[t[i].LabelKey]
	}
	return p
}

// Reach tells how near any node is to one dataset.
type Reach struct {
	tiers   Tiers
	nodes   map[string]struct{}
	groups  []Location // domains that serve as a whole: every node in them counts as serving
	domains domain
}

// domain is a node of the tree region -> zone -> rack of places that serve the dataset. The children's keys
// are label values of the next narrower tier; "" stands for a missing label.
type domain struct {
	children map[string]*domain
}

// NewReach compiles a placement. Locations that match no node are dropped:
// a place that does not exist serves nobody. The cost is linear in the placement's serving locations.
func NewReach(p Placement, tiers Tiers, index NodeIndex) *Reach {
	r := &Reach{tiers: tiers, nodes: map[string]struct{}{}}
	for _, at := range p.Serving() {
		if at.Key == HostnameKey {
			if node, ok := index.Named(at.Value); ok {
				r.nodes[node.Name] = struct{}{}
				r.addDomains(node)
			}
			continue
		}
		// The domain's nodes agree on the wider tiers, so any one of them stands for all.
		if member, ok := index.Member(at); ok {
			r.groups = append(r.groups, at)
			r.addDomains(member)
		}
	}
	return r
}

func (r *Reach) addDomains(node Node) {
	at, path := &r.domains, r.tiers.path(node)
	for i := len(r.tiers) - 1; i >= 0; i-- {
		child := at.children[path[i]]
		if child == nil {
			child = &domain{}
			if at.children == nil {
				at.children = map[string]*domain{}
			}
			at.children[path[i]] = child
		}
		at = child
	}
}

// Empty reports that no existing node serves the dataset.
func (r *Reach) Empty() bool { return len(r.nodes) == 0 && len(r.groups) == 0 }

// Serves reports whether the node itself serves or holds the dataset.
func (r *Reach) Serves(node Node) bool {
	if _, ok := r.nodes[node.Name]; ok {
		return true
	}
	for _, g := range r.groups {
		if value, ok := node.Labels[g.Key]; ok && value == g.Value {
			return true
		}
	}
	return false
}

// Percent returns how near the node is to the dataset: [FullPercent] when it serves it, else the percentage
// of the nearest tier it shares with a serving place, else 0. It does not allocate.
func (r *Reach) Percent(node Node) int64 {
	return r.percent(node, r.tiers.path(node))
}

func (r *Reach) percent(node Node, path path) int64 {
	if r.Serves(node) {
		return FullPercent
	}
	best, at := int64(0), &r.domains
	for i := len(r.tiers) - 1; i >= 0; i-- {
		child := at.children[path[i]]
		if child == nil {
			break
		}
		if path[i] != "" {
			best = r.tiers[i].Percent
		}
		at = child
	}
	return best
}

// Request is what one pod asks for: the reaches of its datasets, each of equal weight and all compiled with
// the same tiers.
type Request []*Reach

// Score returns the mean of the datasets' percentages, 0 to 100, rounded half up. Datasets that nothing
// serves must be left out by the caller: they are unknown, not far. An empty request scores 0. It does not
// allocate.
func (q Request) Score(node Node) int64 {
	if len(q) == 0 {
		return 0
	}
	path := q[0].tiers.path(node) // read once for all datasets: label lookups are most of the cost
	var sum int64
	for _, r := range q {
		sum += r.percent(node, path)
	}
	n := int64(len(q))
	return (2*sum + n) / (2 * n)
}
