package gpushare

import (
	"math"
	"slices"
)

// NoDevice is returned where no device has room.
const NoDevice = -1

// Fits says whether the devices have room for the pods' GPUs: as many different devices as asked for, each with the
// share idle. Pods without GPUs always fit. The model is not looked at.
func Fits(c *Class, idle []int) bool {
	if c.GPUs == 0 {
		return true
	}
	devices := 0
	for _, milli := range idle {
		if milli >= c.GPUMilli {
			devices++
		}
	}
	return devices >= c.GPUs
}

// BestFit is the device with the least idle part that has room for milli, the first of equals, or NoDevice.
func BestFit(idle []int, milli int) int {
	best := NoDevice
	for i, free := range idle {
		if free >= milli && (best == NoDevice || free < idle[best]) {
			best = i
		}
	}
	return best
}

// WorstFit is the device with the largest idle part that has room for milli, the first of equals, or NoDevice.
func WorstFit(idle []int, milli int) int {
	worst := NoDevice
	for i, free := range idle {
		if free >= milli && (worst == NoDevice || free > idle[worst]) {
			worst = i
		}
	}
	return worst
}

// WithRoom appends the devices that have room for milli to dst.
func WithRoom(dst, idle []int, milli int) []int {
	for i, free := range idle {
		if free >= milli {
			dst = append(dst, i)
		}
	}
	return dst
}

// Descent is fragmentation gradient descent (FGD, algorithm 2 of the paper): how little a placement adds to the
// node's fragment, as an integer of 0..100, and the device that a shared pod should get, NoDevice for others. before
// is the fragment of the node as it is. The integer is part of the policy: what it makes equal is decided by the order
// of the nodes, and FGD without it does worse.
func (m *Meter) Descent(c *Class, free Free, before float64) (score, device int) {
	after := free
	after.CPUMilli -= c.CPUMilli
	if !c.Shared() {
		after.Idle = append(make([]int, 0, 16), free.Idle...)
		Take(c, after.Idle)
		amounts := m.Measure(after)
		return DescentScore(before - amounts.Fragment()), NoDevice
	}
	score, device = 0, NoDevice
	for i, idle := range free.Idle {
		// After an earlier device with as much idle the node would be the same but for the numbering.
		if idle < c.GPUMilli || slices.Contains(free.Idle[:i], idle) {
			continue
		}
		free.Idle[i] -= c.GPUMilli
		amounts := m.Measure(after)
		free.Idle[i] += c.GPUMilli
		if s := DescentScore(before - amounts.Fragment()); device == NoDevice || s > score {
			score, device = s, i
		}
	}
	return score, device
}

// DescentScore squeezes the drop of the fragment, in milli, into 0..100: a whole GPU is one unit of the logistic curve.
func DescentScore(drop float64) int {
	return int(100 * (1 / (1 + math.Exp(-drop/wholeGPU))))
}

// Take takes devices for pods that do not choose: the first ones with room. It returns them in ascending order, or nil
// when they do not suffice, and then idle is unchanged.
func Take(c *Class, idle []int) []int {
	if c.GPUs == 0 || !Fits(c, idle) {
		return nil
	}
	return AppendTaken(make([]int, 0, c.GPUs), c, idle)
}

// AppendTaken is Take for callers that bring their own space. The pod must fit.
func AppendTaken(taken []int, c *Class, idle []int) []int {
	before := len(taken)
	for i := range idle {
		if idle[i] >= c.GPUMilli && len(taken)-before < c.GPUs {
			idle[i] -= c.GPUMilli
			taken = append(taken, i)
		}
	}
	return taken
}
