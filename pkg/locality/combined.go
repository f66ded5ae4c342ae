package locality

// combined answers for all datasets of a request at once what [Reach.value] answers for one: one look-up by node
// name and one by label value for each tier, instead of as many for each dataset. Vectors are indexed like the
// request's datasets.
type combined struct {
	nodes   map[string][]float64 // shares held, by node name
	domains combinedDomain
	// worth holds the factor of each tier, under each dataset's ceiling: worth[i][d].
	worth [MaxTiers][]float64
}

type combinedDomain struct {
	best     []float64 // the largest share that one place in the domain holds
	children map[string]*combinedDomain
}

func combine(reaches []*Reach, rules *Rules) combined {
	c := combined{nodes: map[string][]float64{}}
	for i := range rules.Tiers {
		c.worth[i] = make([]float64, len(reaches))
	}
	for d, r := range reaches {
		for name, share := range r.nodes {
			if c.nodes[name] == nil {
				c.nodes[name] = make([]float64, len(reaches))
			}
			c.nodes[name][d] = share
		}
		for i := range rules.Tiers {
			c.worth[i][d] = min(rules.Tiers[i].Factor, r.ceiling)
		}
		c.domains.add(&r.domains, d, len(reaches))
	}
	return c
}

func (c *combinedDomain) add(from *domain, d, datasets int) {
	if c.best == nil {
		c.best = make([]float64, datasets)
	}
	c.best[d] = from.best
	for value, child := range from.children {
		if c.children == nil {
			c.children = map[string]*combinedDomain{}
		}
		if c.children[value] == nil {
			c.children[value] = &combinedDomain{}
		}
		c.children[value].add(child, d, datasets)
	}
}

// along collects the vectors that apply to a node: its own, nil for none, and that of each tier it shares with
// some replica, nil for those it does not.
func (c *combined) along(node Node, tiers Tiers) (held []float64, shared [MaxTiers][]float64) {
	at := &c.domains
	for i := len(tiers) - 1; i >= 0 && len(at.children) > 0; i-- {
		value := node.Labels[tiers[i].LabelKey]
		if at = at.children[value]; at == nil {
			break
		}
		if value != "" {
			shared[i] = at.best
		}
	}
	return c.nodes[node.Name], shared
}
