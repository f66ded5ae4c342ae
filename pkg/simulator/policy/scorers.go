package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
)

// The largest node that the study's formulas expect: 128 cores and 8 GPUs. Larger ones score out of their intended
// range and are cut to 0..100.
const (
	maxSpecCPUMilli = 128000
	maxSpecGPUMilli = 8000
)

// scorer rates a node that has room for a class of pods.
type scorer struct {
	// score is in 0..100.
	score func(node int, class *classKey) int64
	// minMax stretches the scores of one decision to 0..100.
	minMax bool
	// draw gives 100 to a node at random and 0 to the others.
	draw bool
	// cost rates the nodes of one decision against each other, instead of score.
	cost cost
	// memory says that the score depends on the requested memory, too.
	memory bool
}

// Names are the score policies.
func Names() []string {
	return []string{
		Random, BestFit, DotProduct, GPUPacking, GPUClustering, FGD, Simon, MLP,
		DatasetLocality, DiskHeadroom, PeerDistance,
	}
}

// Known says whether there is a native score policy of that name.
func Known(name string) bool { return slices.Contains(Names(), name) }

func (n *Native) scorer(c *Scorer, config *Config) (scorer, error) {
	switch c.Name {
	case Random:
		return scorer{draw: true}, nil
	case BestFit:
		return scorer{score: n.bestFit, minMax: true}, nil
	case DotProduct:
		d, err := n.dotProduct(c)
		if err != nil {
			return scorer{}, err
		}
		return scorer{score: d.score}, nil
	case GPUPacking:
		return scorer{score: n.packing}, nil
	case GPUClustering:
		return scorer{score: n.clustering}, nil
	case FGD:
		return scorer{score: n.descent}, nil
	case Simon:
		return scorer{score: n.simon, minMax: true, memory: true}, nil
	case MLP:
		return n.learnedScorer(config)
	default:
		if cost := n.costOf(c.Name); cost != nil {
			return scorer{cost: cost}, nil
		}
		return scorer{}, fmt.Errorf("score policy %q: expected one of %s", c.Name, strings.Join(Names(), ", "))
	}
}

// descent is fragmentation gradient descent.
func (n *Native) descent(node int, c *classKey) int64 {
	if empty(&c.Class) {
		return maxScore
	}
	score, _ := n.state.Meter().Descent(&c.Class, n.state.Free(node), n.state.Frag(node).Fragment())
	return int64(score)
}

func (n *Native) descentDevice(node int, c *classKey) int {
	_, device := n.state.Meter().Descent(&c.Class, n.state.Free(node), n.state.Frag(node).Fragment())
	return device
}

// empty says whether pods of the class ask for nothing.
func empty(c *gpushare.Class) bool { return c.CPUMilli == 0 && c.GPUs == 0 }

// bestFit prefers the node with the least left: one minus the mean of free CPU and free GPU after the placement, in
// parts of the largest node.
func (n *Native) bestFit(node int, c *classKey) int64 {
	free := n.state.Free(node)
	cpu := float64(free.CPUMilli-c.CPUMilli) / maxSpecCPUMilli
	gpu := float64(n.state.IdleGPUMilli(node)-c.GPUs*c.GPUMilli) / maxSpecGPUMilli
	return clamp(int64(maxScore * (1 - (0.5*cpu + 0.5*gpu))))
}

// packing prefers, in this order, devices in use, idle devices of nodes in use, and idle nodes, small ones first: the
// policy of Weng et al., "MLaaS in the Wild" (NSDI 2022) as the study implements it. It does not look at CPU, and
// pods without GPUs score 0 everywhere.
func (n *Native) packing(node int, c *classKey) int64 {
	if c.GPUs == 0 {
		return 0
	}
	idle := n.state.Free(node).Idle
	if devices := int64(len(idle)); n.state.WholeGPUs(node) == len(idle) {
		return max(maxScore/3-devices, devices)
	}
	whole, percent := chosen(idle, &c.Class)
	if whole > 0 {
		return max(maxScore/2-whole, maxScore/3)
	}
	return max(maxScore-percent/10, maxScore/2)
}

// chosen takes the devices with the least sufficient idle part: how many of them are wholly idle, and what the others
// have idle together, in percent of a device.
func chosen(idle []int, c *gpushare.Class) (whole, percent int64) {
	last, need := -1, c.GPUs
	for need > 0 {
		// The next larger idle part that occurs; all devices with it are taken as far as needed.
		next := model.GPUMilli + 1
		for _, milli := range idle {
			if milli >= c.GPUMilli && milli > last && milli < next {
				next = milli
			}
		}
		if next > model.GPUMilli {
			break
		}
		for _, milli := range idle {
			if milli != next || need == 0 {
				continue
			}
			need--
			if milli == model.GPUMilli {
				whole++
			} else {
				percent += int64(milli) * 100 / model.GPUMilli
			}
		}
		last = next
	}
	return whole, percent
}

// clustering prefers nodes that already run pods with the same kind of GPU request, after Xiao et al., "Gandiva"
// (OSDI 2018) as the study implements it, and then those with less idle.
func (n *Native) clustering(node int, c *classKey) int64 {
	if c.GPUs == 0 {
		return 0
	}
	base := int64(0)
	switch same, other := n.state.Tagged(node, tagOf(&c.Class)); {
	case same && !other:
		base = 75
	case same:
		base = 50
	case !other:
		base = 25
	}
	left := int64(maxSpecGPUMilli - n.state.IdleGPUMilli(node))
	return clamp(base + 25*left/maxSpecGPUMilli)
}

// simon prefers nodes of which the pod takes the largest part, empty or not: the policy of open-simulator. GPUs are no
// resource to it, as they stand in annotations.
func (n *Native) simon(node int, c *classKey) int64 {
	if empty(&c.Class) && c.memoryBytes == 0 {
		return maxScore
	}
	spec := &n.state.Cluster().Nodes[node]
	most := max(share(c.CPUMilli, spec.CPUMilli-c.CPUMilli), share(c.memoryBytes, spec.MemoryBytes-c.memoryBytes))
	return clamp(int64(maxScore * most))
}

func share(request, left int64) float64 {
	if left > 0 {
		return float64(request) / float64(left)
	}
	if request == 0 {
		return 0
	}
	return 1
}

func tagOf(c *gpushare.Class) occupancy.Tag {
	return occupancy.TagOf(&model.Pod{GPUs: c.GPUs, GPUMilli: c.GPUMilli})
}

func clamp(score int64) int64 { return min(max(score, 0), maxScore) }
