package occupancy

import "github.com/vicinity-scheduler/vicinity/pkg/simulator/model"

// Tag groups pods by the kind of their GPU request, for policies that keep like with like.
type Tag int

// tags bounds the kinds: shared, and 1 to 14 devices; larger requests share the last one.
const tags = 16

// TagOf is the pod's kind: 0 for a part of a device, else the number of devices.
func TagOf(pod *model.Pod) Tag {
	if pod.GPUs == 1 && pod.GPUMilli < model.GPUMilli {
		return 0
	}
	return Tag(min(pod.GPUs, tags-1))
}

// Tagged says whether the node runs pods of the kind, and whether it runs pods with GPUs of another kind.
func (s *State) Tagged(node int, tag Tag) (same, other bool) {
	for t, count := range s.tags[node] {
		if count == 0 {
			continue
		}
		if Tag(t) == tag {
			same = true
		} else {
			other = true
		}
	}
	return same, other
}
