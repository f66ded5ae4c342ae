package policy

import "github.com/vicinity-scheduler/vicinity/pkg/simulator/model"

// Rate is what the policy's scorers say of the nodes together, weighted, in the order of nodes, which must be those with
// room for the pod, ascending. It is what Schedule compares, for engines that decide elsewhere. The result is the
// policy's own and valid until the next call.
func (n *Native) Rate(spec *model.Pod, nodes []int) []int64 {
	n.feasible = append(n.feasible[:0], nodes...)
	n.weigh(n.cacheOf(spec))
	return n.sum
}

// Devices are those that the policy gives the pod on a node that has room for it, ascending; nil for a pod without GPUs.
func (n *Native) Devices(node int, spec *model.Pod) []int {
	return n.devices(node, spec, &n.cacheOf(spec).key)
}
