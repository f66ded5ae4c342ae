package policy

import (
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Policies that look at data, disks and distances. They are simple stand-ins for what the CacheAware, DiskIO and
// EdgeDelay plugins decide in detail, and are named apart from them.
const (
	// DatasetLocality prefers the node on which the pod's data is soonest.
	DatasetLocality = "DatasetLocality"
	// DiskHeadroom prefers the node whose disk has the largest part left with the pod.
	DiskHeadroom = "DiskHeadroom"
	// PeerDistance prefers the node that is nearest to the pod's peers.
	PeerDistance = "PeerDistance"
)

// cost is what a node costs the pod; less is better.
type cost func(node int, spec *model.Pod) float64

// costOf is what the policy of that name minds, nil if it is not one of these.
func (n *Native) costOf(name string) cost {
	switch name {
	case DatasetLocality:
		return n.fetchTime
	case DiskHeadroom:
		return n.diskUse
	case PeerDistance:
		return n.peerRTT
	default:
		return nil
	}
}

// fetchTime is 0 where there is no data in the world.
func (n *Native) fetchTime(node int, spec *model.Pod) float64 {
	if n.world == nil {
		return 0
	}
	took, _ := n.world.Fetch(spec, node)
	return took.Seconds()
}

func (n *Native) diskUse(node int, spec *model.Pod) float64 {
	if n.world == nil {
		return 0
	}
	return n.world.DiskUse(node, spec.DiskBytesPerSecond)
}

func (n *Native) peerRTT(node int, spec *model.Pod) float64 {
	if n.world == nil {
		return 0
	}
	rtt, _ := n.world.PeerRTT(spec, node)
	return rtt.Seconds()
}

// rate fills raw with 100 for what costs nothing and 0 for the dearest of the feasible nodes, in proportion between.
// Such scores depend on other nodes and on other pods, so they are not kept.
func (n *Native) rate(of cost) {
	dearest := 0.0
	n.costs = n.costs[:0]
	for _, node := range n.feasible {
		c := of(node, n.spec)
		n.costs = append(n.costs, c)
		dearest = max(dearest, c)
	}
	for i, c := range n.costs {
		n.raw[i] = maxScore
		if dearest > 0 {
			n.raw[i] = clamp(int64(maxScore * (1 - c/dearest)))
		}
	}
}
