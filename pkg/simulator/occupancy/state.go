package occupancy

import (
	"fmt"
	"math"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// State is what is free. It belongs to one goroutine.
type State struct {
	cluster *model.Cluster
	meter   *gpushare.Meter
	models  []string
	nodes   []node
	// tags counts each node's pods with GPUs by what they ask for, see Tag. They are apart from nodes, which are walked
	// for every decision, so that more of those lie in the processor's cache.
	tags  [][tags]int32
	frags []gpushare.Amounts
	usage model.Usage
}

// node is one node's free capacity.
type node struct {
	cpuMilli, memoryBytes int64
	// idle is the free part of each device.
	idle []int
	// largest is the most that one device has idle, and whole the number of devices nobody uses: they answer whether
	// a pod fits without a look at the devices.
	largest, whole int
	idleSum        int
	podsLeft, pods int
	model          int
	version        uint32
	down           bool
}

// New is the state of an empty cluster.
func New(cluster *model.Cluster, typical []gpushare.TypicalPod) *State {
	count := len(cluster.Nodes)
	s := &State{cluster: cluster, nodes: make([]node, count), tags: make([][tags]int32, count), frags: make([]gpushare.Amounts, count)}
	for i := range cluster.Nodes {
		spec := &cluster.Nodes[i]
		at := slices.Index(s.models, spec.GPUModel)
		if at < 0 {
			at = len(s.models)
			s.models = append(s.models, spec.GPUModel)
		}
		n := node{
			cpuMilli: spec.CPUMilli, memoryBytes: spec.MemoryBytes, idle: make([]int, spec.GPUs),
			podsLeft: spec.MaxPods, model: at,
		}
		if n.podsLeft == 0 {
			n.podsLeft = math.MaxInt
		}
		for d := range n.idle {
			n.idle[d] = model.GPUMilli
		}
		n.summarise()
		s.nodes[i] = n
	}
	s.usage.TotalCPUMilli, s.usage.TotalMemoryBytes, s.usage.TotalGPUMilli = cluster.Totals()
	s.usage.TotalGPUs = cluster.TotalGPUs()
	s.SetTypical(typical)
	return s
}

// SetTypical changes the pods that fragmentation is measured for.
func (s *State) SetTypical(typical []gpushare.TypicalPod) {
	s.meter = gpushare.NewMeter(typical, s.models)
	s.usage.Frag = gpushare.Amounts{}
	for i := range s.nodes {
		s.frags[i] = s.meter.Measure(s.Free(i))
		s.usage.Frag.Add(&s.frags[i])
		s.nodes[i].version++
	}
}

// Cluster is the cluster that the state is of.
func (s *State) Cluster() *model.Cluster { return s.cluster }

// Meter measures fragmentation with the typical pods and models of the state.
func (s *State) Meter() *gpushare.Meter { return s.meter }

// Usage sums up the cluster. It is kept up to date; do not change it.
func (s *State) Usage() *model.Usage { return &s.usage }

// Free is what the node has left. Idle is the state's own: do not change it for longer than a hypothesis.
func (s *State) Free(node int) gpushare.Free {
	n := &s.nodes[node]
	return gpushare.Free{CPUMilli: n.cpuMilli, Idle: n.idle, Model: n.model}
}

// Frag is the node's idle GPU capacity by quadrant.
func (s *State) Frag(node int) *gpushare.Amounts { return &s.frags[node] }

// IdleGPUMilli and WholeGPUs are what the node's devices have idle together, and how many of them nobody uses.
func (s *State) IdleGPUMilli(node int) int { return s.nodes[node].idleSum }

// MemoryFree is the memory that the node has left, in bytes.
func (s *State) MemoryFree(node int) int64 { return s.nodes[node].memoryBytes }

// WholeGPUs is the number of the node's devices that nobody uses.
func (s *State) WholeGPUs(node int) int { return s.nodes[node].whole }

// Pods is the number of pods on the node.
func (s *State) Pods(node int) int { return s.nodes[node].pods }

// SetDown takes the node out of what is feasible, or puts it back. What runs there is not touched, and the cluster's
// capacity stays that of all its nodes.
func (s *State) SetDown(node int, down bool) {
	s.nodes[node].down = down
	s.nodes[node].version++
}

// Version changes whenever the node does.
func (s *State) Version(node int) uint32 { return s.nodes[node].version }

// Left is a copy of what the node has left.
func (s *State) Left(node int) model.NodeLeft {
	n := &s.nodes[node]
	return model.NodeLeft{CPUMilli: n.cpuMilli, MemoryBytes: n.memoryBytes, GPUMilli: slices.Clone(n.idle), Pods: n.pods}
}

// Arrive counts a pod's GPUs as demand.
func (s *State) Arrive(pod *model.Pod) { s.usage.ArrivedGPUMilli += pod.TotalGPUMilli() }

// Unarrive takes the demand away again.
func (s *State) Unarrive(pod *model.Pod) { s.usage.ArrivedGPUMilli -= pod.TotalGPUMilli() }

// Place takes what the pod needs.
func (s *State) Place(pod *model.Pod, to model.Binding) error {
	if err := s.check(pod, to); err != nil {
		return err
	}
	s.apply(pod, to, 1)
	return nil
}

// Remove gives it back. The pod must have been placed with this binding.
func (s *State) Remove(pod *model.Pod, from model.Binding) error {
	if from.Node < 0 || from.Node >= len(s.nodes) || s.nodes[from.Node].pods == 0 {
		return fmt.Errorf("pod %s cannot leave node %d: nothing runs there", pod.Key(), from.Node)
	}
	s.apply(pod, from, -1)
	return nil
}

// check refuses what would make a count negative.
func (s *State) check(pod *model.Pod, to model.Binding) error {
	if to.Node < 0 || to.Node >= len(s.nodes) {
		return fmt.Errorf("pod %s is bound to node %d of %d", pod.Key(), to.Node, len(s.nodes))
	}
	n, name := &s.nodes[to.Node], s.cluster.Nodes[to.Node].Name
	if len(to.GPUs) != pod.GPUs {
		return fmt.Errorf("pod %s is bound to %d devices of node %s but asks for %d", pod.Key(), len(to.GPUs), name, pod.GPUs)
	}
	if n.cpuMilli < pod.CPUMilli || n.memoryBytes < pod.MemoryBytes || n.podsLeft < 1 {
		return fmt.Errorf("pod %s does not fit on node %s, which has %d milli CPU, %d bytes and %d pods left",
			pod.Key(), name, n.cpuMilli, n.memoryBytes, n.podsLeft)
	}
	for i, device := range to.GPUs {
		if device < 0 || device >= len(n.idle) || n.idle[device] < pod.GPUMilli || slices.Contains(to.GPUs[:i], device) {
			return fmt.Errorf("pod %s wants %d milli of device %d of node %s, whose devices have %v idle",
				pod.Key(), pod.GPUMilli, device, name, n.idle)
		}
	}
	return nil
}

// apply adds or takes away the pod, with sign 1 or -1.
func (s *State) apply(pod *model.Pod, at model.Binding, sign int) {
	n, before := &s.nodes[at.Node], s.usedGPUs(at.Node)
	n.cpuMilli -= int64(sign) * pod.CPUMilli
	n.memoryBytes -= int64(sign) * pod.MemoryBytes
	n.podsLeft -= sign
	n.pods += sign
	for _, device := range at.GPUs {
		n.idle[device] -= sign * pod.GPUMilli
	}
	if pod.GPUs > 0 {
		s.tags[at.Node][TagOf(pod)] += int32(sign)
	}
	n.summarise()
	n.version++

	u := &s.usage
	u.UsedCPUMilli += int64(sign) * pod.CPUMilli
	u.UsedMemoryBytes += int64(sign) * pod.MemoryBytes
	u.UsedGPUMilli += int64(sign) * pod.TotalGPUMilli()
	u.UsedGPUs += s.usedGPUs(at.Node) - before
	if n.pods == 0 || (n.pods == 1 && sign == 1) {
		u.UsedNodes += sign
		u.UsedNodeGPUs += sign * len(n.idle)
	}
	if pod.GPUs > 0 || n.idleSum > 0 {
		u.Frag.Sub(&s.frags[at.Node])
		s.frags[at.Node] = s.meter.Measure(s.Free(at.Node))
		u.Frag.Add(&s.frags[at.Node])
	}
}

func (s *State) usedGPUs(node int) int { return len(s.nodes[node].idle) - s.nodes[node].whole }

// summarise derives what is known of the devices together.
func (n *node) summarise() {
	n.largest, n.whole, n.idleSum = 0, 0, 0
	for _, idle := range n.idle {
		n.largest = max(n.largest, idle)
		n.idleSum += idle
		if idle == model.GPUMilli {
			n.whole++
		}
	}
}
