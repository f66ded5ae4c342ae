package goldpinger

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// directory finds nodes by what answers tell.
type directory struct {
	nodes     map[string]*corev1.Node // by name
	addresses map[netip.Addr]string
	pods      map[string]string // node names by pod name
}

func newDirectory(nodes []corev1.Node, pods []corev1.Pod) *directory {
	d := &directory{nodes: make(map[string]*corev1.Node, len(nodes)), addresses: map[netip.Addr]string{}, pods: map[string]string{}}
	for i := range nodes {
		d.nodes[nodes[i].Name] = &nodes[i]
		for _, a := range nodes[i].Status.Addresses {
			if address, err := netip.ParseAddr(a.Address); err == nil {
				d.addresses[address.Unmap()] = nodes[i].Name
			}
		}
	}
	for i := range pods {
		if pods[i].Spec.NodeName != "" {
			d.pods[pods[i].Name] = pods[i].Spec.NodeName
		}
	}
	return d
}

// find returns the node's name.
func (d *directory) find(p peer) (string, bool) {
	if _, ok := d.nodes[p.key]; ok {
		return p.key, true
	}
	if address, err := netip.ParseAddr(p.hostIP); err == nil {
		if name, ok := d.addresses[address.Unmap()]; ok {
			return name, true
		}
	}
	name, ok := d.pods[p.key]
	return name, ok && d.nodes[name] != nil
}
