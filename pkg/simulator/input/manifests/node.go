package manifests

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// ModelNodes converts the nodes. CPU and memory are what is allocatable, GPUs are read from the capacity, as the
// predecessor does.
func (s *Set) ModelNodes(list *faults.List) []model.Node {
	nodes := make([]model.Node, 0, len(s.Nodes))
	for i := range s.Nodes {
		nodes = append(nodes, modelNode(&s.Nodes[i], list))
	}
	return nodes
}

func modelNode(o *Object[corev1.Node], list *faults.List) model.Node {
	node, d := o.Value, o.From
	if len(node.Status.Allocatable) == 0 {
		node.Status.Allocatable = node.Status.Capacity
	}
	if len(node.Status.Allocatable) == 0 {
		list.Add(d.At(statusField), "want %s.%s with cpu and memory, found neither it nor %s", statusField, allocatableField, capacityField)
	}
	if len(node.Status.Capacity) == 0 {
		node.Status.Capacity = node.Status.Allocatable
	}
	if node.Labels[corev1.LabelHostname] == "" {
		// A kubelet sets it, so that manifests written by hand often lack it.
		node.Labels = maps.Clone(node.Labels)
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[corev1.LabelHostname] = node.Name
	}
	allocatable := quantities{list: list, from: d, values: node.Status.Allocatable, path: []string{statusField, allocatableField}}
	out := model.Node{
		Name:        node.Name,
		CPUMilli:    allocatable.milli(corev1.ResourceCPU),
		MemoryBytes: allocatable.whole(corev1.ResourceMemory, mostBytes),
		MaxPods:     int(allocatable.whole(corev1.ResourcePods, mostReplicas)),
		Labels:      node.Labels,
		Source:      node,
	}
	out.GPUs, out.GPUModel = nodeGPUs(node, d, list)
	return out
}

func nodeGPUs(node *corev1.Node, d *Document, list *faults.List) (count int, card string) {
	capacity := quantities{list: list, from: d, values: node.Status.Capacity, path: []string{statusField, capacityField}}
	if _, found := node.Status.Capacity[gpuCountKey]; !found {
		return int(capacity.whole(nvidiaResource, mostDevices)), node.Labels[nvidiaProductKey]
	}
	count = int(capacity.whole(gpuCountKey, mostDevices))
	if milli := capacity.whole(gpuMilliKey, mostDevices*model.GPUMilli); milli != int64(count)*model.GPUMilli {
		if _, found := node.Status.Capacity[gpuMilliKey]; found {
			list.Add(d.At(statusField, capacityField, gpuMilliKey), "want %d for %d GPUs, 1000 each; found %d",
				count*model.GPUMilli, count, milli)
		}
	}
	return count, node.Labels[gpuModelKey]
}

// quantities reads a list of resources. Absent ones are 0.
type quantities struct {
	list   *faults.List
	from   *Document
	values corev1.ResourceList
	path   []string
}

func (q *quantities) at(name corev1.ResourceName) faults.Position {
	return q.from.At(append(append([]string{}, q.path...), string(name))...)
}

// milli is the CPU in thousandths of a core.
func (q *quantities) milli(name corev1.ResourceName) int64 {
	value := q.values[name]
	if !q.inRange(name, value, mostCores) {
		return 0
	}
	return value.MilliValue()
}

func (q *quantities) whole(name corev1.ResourceName, most int64) int64 {
	value := q.values[name]
	if !q.inRange(name, value, most) {
		return 0
	}
	return value.Value()
}

func (q *quantities) inRange(name corev1.ResourceName, value resource.Quantity, most int64) bool {
	if value.Sign() < 0 || value.CmpInt64(most) > 0 {
		q.list.Add(q.at(name), "want a quantity from 0 to %d, found %s", most, value.String())
		return false
	}
	return true
}
