package rtttargets

import (
	"cmp"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
)

const (
	// zoneReferences is how many nodes of a zone are measured to when a bound refers to it.
	zoneReferences = 8
	// clusterStep is what the number of nodes of a large cluster is rounded up to.
	clusterStep = 1000
	// maxAddresses is how many addresses of a node are listed.
	maxAddresses = 4
)

// omissions say what did not fit.
type omissions struct{ nodes, references, endpoints, selectors int }

// compile makes the list of the nodes there are and of what bounds refer to. Allowed says which endpoints may be probed.
func compile(nodes []corev1.Node, wanted references, allowed []string, token string) (*targets.List, omissions) {
	list := &targets.List{Version: targets.Version, Token: token}
	missed := omissions{selectors: wanted.selectorsOmitted}
	all := make([]targets.Node, 0, len(nodes))
	zones := map[string][]targets.Node{}
	for i := range nodes {
		node := targets.Node{Name: nodes[i].Name, Zone: nodes[i].Labels[corev1.LabelTopologyZone], Addresses: addressesOf(&nodes[i])}
		if len(node.Addresses) == 0 {
			continue // nothing can be sent there
		}
		all = append(all, node)
		if wanted.zones[node.Zone] > 0 {
			zones[node.Zone] = append(zones[node.Zone], node)
		}
	}
	want := maps.Clone(wanted.nodes)
	for zone, members := range zones {
		for _, node := range targets.Sample(members, zoneReferences) {
			want[node.Name] += wanted.zones[zone]
		}
	}
	var referred, others []targets.Node
	for _, node := range all {
		if node.Reference = want[node.Name] > 0; node.Reference {
			referred = append(referred, node)
		} else {
			others = append(others, node)
		}
	}
	slices.SortFunc(referred, func(a, b targets.Node) int {
		return cmp.Or(cmp.Compare(want[b.Name], want[a.Name]), cmp.Compare(a.Name, b.Name))
	})
	for len(referred) > targets.MaxReferences {
		last := referred[len(referred)-1]
		last.Reference = false
		referred, others = referred[:len(referred)-1], append(others, last)
		missed.references++
	}
	sample := targets.Sample(others, targets.MaxNodes)
	if missed.nodes = len(others) - len(sample); missed.nodes > 0 {
		// Rounded, so that not each node that comes or goes changes the document.
		list.ClusterNodes = (len(nodes) + clusterStep - 1) / clusterStep * clusterStep
	}
	list.Nodes = append(referred, sample...)
	slices.SortFunc(list.Nodes, func(a, b targets.Node) int { return cmp.Compare(a.Name, b.Name) })
	list.Endpoints, missed.endpoints = endpoints(wanted.endpoints, allowed)
	return list, missed
}

// endpoints returns the most wanted endpoints that are allowed, in order.
func endpoints(wanted counts, allowed []string) (list []string, omitted int) {
	all := slices.SortedFunc(maps.Keys(wanted), func(a, b string) int {
		return cmp.Or(cmp.Compare(wanted[b], wanted[a]), cmp.Compare(a, b))
	})
	for _, endpoint := range all {
		if len(list) < targets.MaxEndpoints && isAllowed(endpoint, allowed) {
			list = append(list, endpoint)
		} else {
			omitted++
		}
	}
	slices.Sort(list)
	return list, omitted
}

func isAllowed(endpoint string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := path.Match(strings.ToLower(pattern), strings.ToLower(endpoint))
		return err == nil && matches
	})
}

// addressesOf returns the addresses at which a node is probed, in the order in which it has them.
func addressesOf(node *corev1.Node) []netip.Addr {
	var all []netip.Addr
	for _, a := range node.Status.Addresses {
		if a.Type != corev1.NodeInternalIP || len(all) == maxAddresses {
			continue
		}
		if address, err := netip.ParseAddr(a.Address); err == nil && targets.Usable(address) && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}
