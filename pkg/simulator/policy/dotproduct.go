package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// How a node's GPUs become a vector.
const (
	// Merge: one number, the idle parts of all devices together.
	Merge = "merge"
	// Share: a virtual node for each partly used device and one for all others together, each with all of the CPU.
	Share = "share"
	// Divide: as Share, and each virtual node has the part of the CPU that its idle GPU capacity is of the node's.
	Divide = "divide"
	// Extend: a dimension for each partly used device and one for all others.
	Extend = "extend"
)

// What vectors are divided by.
const (
	// NormNode divides by the node's capacity.
	NormNode = "node"
	// NormPod divides by the pod's request, and bends the result into 0..1.
	NormPod = "pod"
	// NormMax divides by the largest node that there is.
	NormMax = "max"
)

// dotProduct rates a node by how different the vectors of what it has left and what the pod asks for are: the policy
// of Grandl et al., "Multi-resource packing for cluster schedulers" (Tetris, SIGCOMM 2014) as the study implements
// it, which takes the smallest product where Tetris takes the largest.
type dotProduct struct {
	native *Native
	dimExt string
	norm   string
}

func (n *Native) dotProduct(c *Scorer) (*dotProduct, error) {
	d := &dotProduct{native: n, dimExt: c.DimExt, norm: c.Norm}
	if d.dimExt == "" {
		d.dimExt = Share
	}
	if d.norm == "" {
		d.norm = NormMax
	}
	if !slices.Contains([]string{Merge, Share, Divide, Extend}, d.dimExt) {
		return nil, fmt.Errorf("dimExtMethod %q: expected %s, %s, %s or %s", d.dimExt, Merge, Share, Divide, Extend)
	}
	if !slices.Contains([]string{NormNode, NormPod, NormMax}, d.norm) {
		return nil, fmt.Errorf("normMethod %q: expected %s, %s or %s", d.norm, NormNode, NormPod, NormMax)
	}
	return d, nil
}

func (d *dotProduct) score(node int, c *classKey) int64 {
	if empty(&c.Class) {
		return maxScore
	}
	score, _ := d.best(node, &c.Class)
	return score
}

func (d *dotProduct) device(node int, c *classKey) int {
	if _, device := d.best(node, &c.Class); device != gpushare.NoDevice {
		return device
	}
	return gpushare.BestFit(d.native.state.Free(node).Idle, c.GPUMilli)
}

// best is the score of the best group of devices, and the device that it means for a shared pod, if it means one.
func (d *dotProduct) best(node int, c *gpushare.Class) (score int64, device int) {
	free := d.native.state.Free(node)
	request := []float64{float64(c.CPUMilli), float64(c.GPUs * c.GPUMilli)}
	if d.dimExt == Extend {
		return d.extended(node, c, request)
	}
	device, score = gpushare.NoDevice, -1
	for _, g := range d.groups(&free, c) {
		product := d.product(node, []float64{g.cpuMilli, g.gpuMilli}, request)
		if s := clamp(int64(maxScore * (1 - product))); s > score {
			score, device = s, g.device
		}
	}
	return max(score, 0), device
}

// group is a virtual node.
type group struct {
	cpuMilli, gpuMilli float64
	device             int
}

// groups are the virtual nodes that have room for a pod of the class.
func (d *dotProduct) groups(free *gpushare.Free, c *gpushare.Class) []group {
	total, whole, firstWhole := summary(free.Idle)
	cpu := func(idle int) float64 {
		if d.dimExt == Divide && total > 0 {
			return float64(free.CPUMilli) * float64(idle) / float64(total)
		}
		return float64(free.CPUMilli)
	}
	if d.dimExt == Merge || c.GPUs == 0 {
		return []group{{cpuMilli: float64(free.CPUMilli), gpuMilli: float64(total), device: gpushare.NoDevice}}
	}
	var groups []group
	for device, idle := range free.Idle {
		if c.Shared() && idle < model.GPUMilli && idle >= c.GPUMilli {
			groups = append(groups, group{cpuMilli: cpu(idle), gpuMilli: float64(idle), device: device})
		}
	}
	if whole >= c.GPUs {
		idle := whole * model.GPUMilli
		groups = append(groups, group{cpuMilli: cpu(idle), gpuMilli: float64(idle), device: firstWhole})
	}
	return groups
}

// summary is what all devices have idle, how many of them nobody uses, and the first of those.
func summary(idle []int) (total, whole, firstWhole int) {
	firstWhole = slices.Index(idle, model.GPUMilli)
	for _, milli := range idle {
		total += milli
		if milli == model.GPUMilli {
			whole++
		}
	}
	return total, whole, firstWhole
}

// extended compares vectors with one dimension for the CPU, one for each partly used device and one for the others.
// The pod's GPU request stands in the dimension that it is tried on.
func (d *dotProduct) extended(node int, c *gpushare.Class, request []float64) (score int64, device int) {
	free := d.native.state.Free(node)
	left, devices := []float64{float64(free.CPUMilli)}, []int{gpushare.NoDevice}
	for i, idle := range free.Idle {
		if idle > 0 && idle < model.GPUMilli {
			left, devices = append(left, float64(idle)), append(devices, i)
		}
	}
	_, whole, firstWhole := summary(free.Idle)
	left, devices = append(left, float64(whole*model.GPUMilli)), append(devices, firstWhole)
	if c.GPUs == 0 {
		return clamp(int64(maxScore * (1 - d.product(node, left, append(request[:1:1], make([]float64, len(left)-1)...))))), gpushare.NoDevice
	}
	score, device = -1, gpushare.NoDevice
	for at := 1; at < len(left); at++ {
		wholes := at == len(left)-1
		if left[at] < request[1] || (!c.Shared() && !wholes) {
			continue
		}
		demand := make([]float64, len(left))
		demand[0], demand[at] = request[0], request[1]
		if s := clamp(int64(maxScore * (1 - d.product(node, left, demand)))); s > score {
			score, device = s, devices[at]
		}
	}
	return max(score, 0), device
}

// product is the mean over the dimensions of left x request, both normalised. The first dimension is CPU.
func (d *dotProduct) product(node int, left, request []float64) float64 {
	spec := &d.native.state.Cluster().Nodes[node]
	sum := 0.0
	for k := range left {
		unit := float64(maxSpecGPUMilli)
		if k == 0 {
			unit = maxSpecCPUMilli
		}
		switch d.norm {
		case NormNode:
			unit = float64(spec.GPUs * model.GPUMilli)
			if k == 0 {
				unit = float64(spec.CPUMilli)
			}
		case NormPod:
			unit = request[k]
		}
		if unit == 0 {
			continue
		}
		a, b := left[k]/unit, request[k]/unit
		if d.norm == NormPod {
			a, b = math.Tanh(a/10), math.Tanh(b/10)
		}
		sum += a * b
	}
	return sum / float64(len(left))
}
