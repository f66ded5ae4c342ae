package gpushare

import (
	"slices"
	"strings"
)

// Quadrant sorts the idle GPU capacity of a node by what a class of pods can do with it. The numbers are those of
// figure 5 of the paper: CPU from short to sufficient, GPUs from short to sufficient; the last three cover pods without
// GPUs and pods that do not accept the node's model.
type Quadrant int

// The quadrants, in the order in which their shares are summed.
const (
	// Q1LackBoth: neither CPU nor GPUs suffice.
	Q1LackBoth Quadrant = iota
	// Q2LackGPU: CPU suffices, GPUs do not; also what lies on devices too small for a pod that fits on others.
	Q2LackGPU
	// Q3Satisfied: the pod fits. The only quadrant that is no fragment.
	Q3Satisfied
	// Q4LackCPU: GPUs suffice, CPU does not.
	Q4LackCPU
	// XLSatisfied: the pod needs no GPU and its CPU fits, so idle GPU capacity is of no use to it.
	XLSatisfied
	// XRLackCPU: the pod needs no GPU and its CPU does not fit.
	XRLackCPU
	// NoAccess: the pod does not accept the node's model.
	NoAccess
	// Quadrants is their number.
	Quadrants
)

// Amounts is idle GPU capacity in milli by quadrant, in expectation over the typical pods. It sums up to all of it.
type Amounts [Quadrants]float64

// Fragment is the part that the typical pods cannot use: F_n(M) of the paper for one node, all but Q3Satisfied.
func (a *Amounts) Fragment() float64 {
	sum := 0.0
	for quadrant, milli := range a {
		if Quadrant(quadrant) != Q3Satisfied {
			sum += milli
		}
	}
	return sum
}

// Add adds other to a.
func (a *Amounts) Add(other *Amounts) {
	for i := range a {
		a[i] += other[i]
	}
}

// Sub takes other away from a.
func (a *Amounts) Sub(other *Amounts) {
	for i := range a {
		a[i] -= other[i]
	}
}

// Free is what a node has left.
type Free struct {
	// CPUMilli is free CPU in thousandths of a core.
	CPUMilli int64
	// Idle is the idle part of each device, 0..1000.
	Idle []int
	// Model is the index of the card's model among those that the meter was made for.
	Model int
}

// Meter measures the fragmentation of nodes for a distribution of typical pods. It has scratch space, so a goroutine
// needs its own.
type Meter struct {
	rows []row
	// accepts says by model whether a row's pods may use it.
	accepts [][]bool
	// milli are the different GPUMilli of all rows; enough and short hold for each of them the number of devices of
	// the node at hand with that much idle, and what is idle on the others.
	milli, enough, short []int
	frequencies          map[Class]float64
}

type row struct {
	cpuMilli  int64
	gpus      int
	milli     int // index into Meter.milli
	frequency float64
}

// NewMeter prepares for nodes with the given card models, which Free.Model indexes.
func NewMeter(typical []TypicalPod, models []string) *Meter {
	m := &Meter{accepts: make([][]bool, len(models)), frequencies: make(map[Class]float64, len(typical))}
	for i := range typical {
		if typical[i].GPUs > 0 {
			m.milli = append(m.milli, typical[i].GPUMilli)
		}
	}
	slices.Sort(m.milli)
	m.milli = slices.Compact(m.milli)
	m.enough, m.short = make([]int, len(m.milli)), make([]int, len(m.milli))
	for i := range typical {
		t := &typical[i]
		m.frequencies[t.Class] = t.Frequency
		at, _ := slices.BinarySearch(m.milli, t.GPUMilli)
		m.rows = append(m.rows, row{cpuMilli: t.CPUMilli, gpus: max(t.GPUs, 0), milli: at, frequency: t.Frequency})
		for model, name := range models {
			m.accepts[model] = append(m.accepts[model], t.Accepts(name))
		}
	}
	return m
}

// Frequency is the share of typical pods that are of the class; not known for one that is not typical.
func (m *Meter) Frequency(c Class) (frequency float64, known bool) {
	frequency, known = m.frequencies[c]
	return frequency, known
}

// Accepts says whether pods of the class may use cards of the model.
func (c *Class) Accepts(model string) bool {
	if c.Models == "" {
		return true
	}
	for name := range strings.SplitSeq(c.Models, "|") {
		if name == model {
			return true
		}
	}
	return false
}

// Measure sorts a node's idle capacity into quadrants: algorithm 1 and equation 2 of the paper. What is idle counts
// with a class's frequency, as a whole in one quadrant, but for a class that fits: then devices too small for it
// count as lacking GPU.
func (m *Meter) Measure(free Free) Amounts {
	var amounts Amounts
	idle := m.count(free.Idle)
	if idle == 0 {
		return amounts
	}
	accepts := m.accepts[free.Model]
	for i := range m.rows {
		r := &m.rows[i]
		cpuFits := free.CPUMilli >= r.cpuMilli
		switch {
		case r.gpus == 0:
			amounts[pick(cpuFits, XLSatisfied, XRLackCPU)] += r.frequency * float64(idle)
		case !accepts[i]:
			amounts[NoAccess] += r.frequency * float64(idle)
		case m.enough[r.milli] < r.gpus:
			amounts[pick(cpuFits, Q2LackGPU, Q1LackBoth)] += r.frequency * float64(idle)
		case !cpuFits:
			amounts[Q4LackCPU] += r.frequency * float64(idle)
		default:
			short := m.short[r.milli]
			amounts[Q2LackGPU] += r.frequency * float64(short)
			amounts[Q3Satisfied] += r.frequency * float64(idle-short)
		}
	}
	return amounts
}

func pick(condition bool, yes, no Quadrant) Quadrant {
	if condition {
		return yes
	}
	return no
}

// count fills enough and short, and returns what is idle on all devices.
func (m *Meter) count(devices []int) int {
	total := 0
	for _, idle := range devices {
		total += idle
	}
	if total == 0 {
		return 0
	}
	for i, milli := range m.milli {
		enough, short := 0, 0
		for _, idle := range devices {
			if idle >= milli {
				enough++
			} else {
				short += idle
			}
		}
		m.enough[i], m.short[i] = enough, short
	}
	return total
}
