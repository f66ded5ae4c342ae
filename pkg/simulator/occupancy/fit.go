package occupancy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Wish is a pod's request, prepared for many nodes.
type Wish struct {
	pod *model.Pod
	// models says by model whether the pod accepts it; nil for any.
	models []bool
}

// Wish prepares the pod.
func (s *State) Wish(pod *model.Pod) Wish {
	w := Wish{pod: pod}
	if len(pod.GPUModels) > 0 {
		w.models = make([]bool, len(s.models))
		for i, name := range s.models {
			w.models[i] = slices.Contains(pod.GPUModels, name)
		}
	}
	return w
}

// lack is why a node has no room.
type lack int

const (
	lacksNothing lack = iota
	lacksCPU
	lacksMemory
	lacksPods
	lacksModel
	lacksGPU
	notSelected
	isDown
	lacks
)

func (l lack) String() string {
	return [...]string{
		"", "too little CPU", "too little memory", "too many pods", "another GPU model", "too little idle on GPUs",
		"another node asked for", "down",
	}[l]
}

// Feasible appends the nodes that have room for the pod to dst, in ascending order.
func (s *State) Feasible(dst []int, w *Wish) []int {
	for i := range s.nodes {
		if s.lack(i, w) == lacksNothing {
			dst = append(dst, i)
		}
	}
	return dst
}

// Fits says whether the node has room for the pod.
func (s *State) Fits(node int, w *Wish) bool { return s.lack(node, w) == lacksNothing }

// Lack is what the node lacks for the pod, for people; empty if it has room.
func (s *State) Lack(node int, w *Wish) string { return s.lack(node, w).String() }

// Shortage says what the nodes lack for the pod, for people.
func (s *State) Shortage(w *Wish) string {
	var counts [lacks]int
	for i := range s.nodes {
		counts[s.lack(i, w)]++
	}
	var parts []string
	for l, count := range counts {
		if count > 0 && lack(l) != lacksNothing {
			parts = append(parts, fmt.Sprintf("%d %s", count, lack(l)))
		}
	}
	return fmt.Sprintf("%d of %d nodes have room: %s", counts[lacksNothing], len(s.nodes), strings.Join(parts, ", "))
}

func (s *State) lack(at int, w *Wish) lack {
	n, pod := &s.nodes[at], w.pod
	switch {
	case n.down:
		return isDown
	case n.cpuMilli < pod.CPUMilli:
		return lacksCPU
	case n.memoryBytes < pod.MemoryBytes:
		return lacksMemory
	case n.podsLeft < 1:
		return lacksPods
	case pod.GPUs > 0 && w.models != nil && !w.models[n.model]:
		return lacksModel
	case !n.devicesFit(pod):
		return lacksGPU
	case pod.Node != "" || len(pod.NodeSelector) > 0 || pod.GPUIndexes != nil:
		return s.selected(at, pod)
	}
	return lacksNothing
}

// devicesFit needs no look at single devices: a share goes with one device only.
func (n *node) devicesFit(pod *model.Pod) bool {
	switch {
	case pod.GPUs == 0:
		return true
	case pod.GPUs == 1:
		return n.largest >= pod.GPUMilli
	default:
		return n.whole >= pod.GPUs
	}
}

// selected looks at what few pods have.
func (s *State) selected(at int, pod *model.Pod) lack {
	spec := &s.cluster.Nodes[at]
	if pod.Node != "" && pod.Node != spec.Name {
		return notSelected
	}
	for key, value := range pod.NodeSelector {
		if got, ok := spec.Labels[key]; !ok || got != value {
			return notSelected
		}
	}
	for _, device := range pod.GPUIndexes {
		if device >= spec.GPUs || s.nodes[at].idle[device] < pod.GPUMilli {
			return lacksGPU
		}
	}
	return lacksNothing
}
