package feature

import (
	"math"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
)

// Optional is a value that may not be known.
type Optional struct {
	Value float64
	Known bool
}

// Known is a known value.
func Known(value float64) Optional { return Optional{Value: value, Known: true} }

// Pod is what a vector says of a pod.
type Pod struct {
	gpushare.Class
	// MemoryBytes is the requested memory.
	MemoryBytes int64
	// Frequency is the share of pods that ask for the same CPU and GPUs, 0..1.
	Frequency Optional
}

// Node is what a vector says of a node, and of the pod on that node.
type Node struct {
	// CPUMilli and MemoryBytes are what pods can have in all. GPUs are len(Free.Idle).
	CPUMilli, MemoryBytes int64
	// Free is CPU, devices and their model before the pod is placed.
	Free gpushare.Free
	// MemoryFreeBytes is free before the pod is placed.
	MemoryFreeBytes int64
	// Fragment is what typical pods cannot use of Free, in milli, for callers that keep it. Unknown: it is measured.
	Fragment Optional
	// Used says whether pods run on the node.
	Used bool
	// Near is how near the node is to what the pod uses.
	Near Near
}

// Near holds what other plugins know of a pod on a node. Units are those of the schema before scaling.
type Near struct {
	// Cached is the share of the pod's dataset bytes that need not be fetched from afar, 0..1.
	Cached Optional
	// MissingBytes are the bytes to fetch.
	MissingBytes Optional
	// DiskFree is the share of the disk's bandwidth that stays free, 0..1, of the scarcer direction.
	DiskFree Optional
	// DiskPressure is the share of time that some task waited for the disk, 0..1.
	DiskPressure Optional
	// DelayMargin is (bound - round-trip time) / bound of the tightest bound, -1..1.
	DelayMargin Optional
	// PeersMillis is the round-trip time to the farthest of the pod's peers, in ms.
	PeersMillis Optional
	// PeerDistance is 0 on a peer's node, 1/3 in its rack, 2/3 in its zone, 1 beyond.
	PeerDistance Optional
}

// Vectors makes vectors. It has scratch space, so a goroutine needs its own.
type Vectors struct {
	meter *gpushare.Meter
	// node is the node at hand without the pod, and candidate that with it.
	node, candidate vector
	// idle are the devices with the pod, taken those that it has.
	idle, taken []int
}

// NewVectors prepares for nodes whose fragment the meter measures.
func NewVectors(meter *gpushare.Meter) *Vectors {
	return &Vectors{meter: meter}
}

// Append appends a vector of Inputs numbers for each candidate that the node has for the pod, and the candidate's device
// to devices: the index of a device that a pod for a part of one would get, gpushare.NoDevice for other pods. Of devices
// that are equally idle only the first is a candidate. The pod must fit on the node; there is always a candidate then.
func (v *Vectors) Append(rows []float32, devices []int, pod *Pod, node *Node) (outRows []float32, outDevices []int) {
	v.before(pod, node)
	if !pod.Shared() || len(node.Free.Idle) == 0 {
		v.idle = append(v.idle[:0], node.Free.Idle...)
		if pod.GPUs > 0 && gpushare.Fits(&pod.Class, v.idle) {
			v.taken = gpushare.AppendTaken(v.taken[:0], &pod.Class, v.idle)
		}
		v.after(pod, node, gpushare.NoDevice)
		return append(rows, v.candidate.inputs[:]...), append(devices, gpushare.NoDevice)
	}
	for device, idle := range node.Free.Idle {
		if idle < pod.GPUMilli || slices.Contains(node.Free.Idle[:device], idle) {
			continue
		}
		v.idle = append(v.idle[:0], node.Free.Idle...)
		v.idle[device] -= pod.GPUMilli
		v.after(pod, node, device)
		rows, devices = append(rows, v.candidate.inputs[:]...), append(devices, device)
	}
	return rows, devices
}

// vector is one vector, and the measures it was made of that are not in it as they are, in milli.
type vector struct {
	inputs         [Inputs]float32
	fragment, idle float64
}

// before fills the part of a vector that all candidates of a node share.
func (v *Vectors) before(pod *Pod, node *Node) {
	v.node = vector{}
	b := &v.node
	cores, perGPU := float64(pod.CPUMilli)/milli, float64(node.CPUMilli)/milli/float64(max(1, len(node.Free.Idle)))
	b.set(podCPU, math.Log2(1+cores)/7)
	b.set(podMemory, math.Log2(1+float64(pod.MemoryBytes)/gib)/10)
	b.set(podGPUs, float64(pod.GPUs)/8)
	b.set(podGPUShare, float64(pod.GPUMilli)/milli)
	b.optional(podFrequency, pod.Frequency)
	b.share(nodeCPUFree, node.Free.CPUMilli, node.CPUMilli)
	b.share(nodeMemoryFree, node.MemoryFreeBytes, node.MemoryBytes)
	b.share(afterCPUFree, node.Free.CPUMilli-pod.CPUMilli, node.CPUMilli)
	b.share(afterMemoryFree, node.MemoryFreeBytes-pod.MemoryBytes, node.MemoryBytes)
	b.set(nodeUsed, bit(node.Used))
	b.near(&node.Near)
	b.set(nodeGPUs, float64(len(node.Free.Idle))/8)
	if len(node.Free.Idle) == 0 {
		return
	}
	b.fragment, b.idle = node.Fragment.Value, total(node.Free.Idle)
	if !node.Fragment.Known {
		amounts := v.meter.Measure(node.Free)
		b.fragment = amounts.Fragment()
	}
	b.set(nodeGPUIdle, b.idle/float64(len(node.Free.Idle))/milli)
	if perGPU > 0 {
		b.set(nodeCPUPerGPU, math.Log2(perGPU)/7)
	}
	if pod.GPUs > 0 && b.idle > 0 {
		asked := float64(pod.CPUMilli)/float64(pod.GPUs*pod.GPUMilli) + 1
		b.set(ratioDistance, math.Abs(math.Log(asked/(float64(node.Free.CPUMilli)/b.idle+1)))/3)
	}
}

func (b *vector) near(near *Near) {
	b.optional(dataCached, near.Cached)
	if near.MissingBytes.Known {
		b.set(dataMissing, math.Log2(1+near.MissingBytes.Value/gib)/10)
	}
	b.optional(diskFree, near.DiskFree)
	b.optional(diskPressure, near.DiskPressure)
	b.optional(delayMargin, near.DelayMargin)
	if near.PeersMillis.Known {
		b.set(delayPeers, math.Log2(1+near.PeersMillis.Value)/10)
	}
	b.optional(peerDistance, near.PeerDistance)
}

// after fills the vector of the candidate whose devices are in v.idle.
func (v *Vectors) after(pod *Pod, node *Node, device int) {
	v.candidate = v.node
	b, c := &v.node, &v.candidate
	if len(v.idle) == 0 {
		return
	}
	left := gpushare.Free{CPUMilli: node.Free.CPUMilli - pod.CPUMilli, Idle: v.idle, Model: node.Free.Model}
	amounts := v.meter.Measure(left)
	drop := b.fragment - amounts.Fragment()
	c.set(fragmentScore, float64(gpushare.DescentScore(drop))/100)
	c.set(fragmentDrop, clamp(drop/milli))
	idle, cpu, cpuBefore := total(v.idle), float64(left.CPUMilli), float64(node.Free.CPUMilli)
	c.set(shortageDrop, clamp((shortage(b.idle, cpuBefore)-shortage(idle, cpu))/(scarceCores*milli)))
	c.set(surplusDrop, clamp((surplus(b.idle, cpuBefore)-surplus(idle, cpu))/(ampleCores*milli)))
	c.set(afterCPUPerGPU, math.Log1p(cpu/(idle+100))/5)
	c.set(afterGPUIdle, idle/float64(len(v.idle))/milli)
	whole := 0
	for _, free := range v.idle {
		if free == milli {
			whole++
		}
	}
	c.set(afterGPUWhole, float64(whole)/8)
	c.set(afterGPUPartial, idle/milli-float64(whole))
	rest, filled, opened := 0.0, false, false
	if device != gpushare.NoDevice {
		rest = float64(v.idle[device]) / milli
		filled, opened = v.idle[device] == 0, node.Free.Idle[device] == milli
	}
	c.set(afterDeviceRest, rest)
	c.set(deviceFilled, bit(filled))
	c.set(deviceOpened, bit(opened))
}

const (
	milli = 1000
	gib   = 1 << 30
	// scarceCores and ampleCores are CPU per GPU: with less than the first an idle GPU is hard to use, and CPU beyond
	// the second is not missed by one. The published trace asks for 14 cores per GPU on average.
	scarceCores, ampleCores = 8, 14
)

// shortage is the CPU that is missing for idle GPUs, in milli; surplus is what they do not need.
func shortage(idle, cpu float64) float64 { return max(0, idle*scarceCores-cpu) }
func surplus(idle, cpu float64) float64  { return max(0, cpu-idle*ampleCores) }

func total(idle []int) float64 {
	sum := 0
	for _, free := range idle {
		sum += free
	}
	return float64(sum)
}

func clamp(gpus float64) float64 { return min(8, max(-8, gpus)) }

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// set makes a feature known. What is not finite stays unknown: no input may poison the others.
func (b *vector) set(feature int, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	b.inputs[feature], b.inputs[Count+feature] = float32(value), 1
}

func (b *vector) optional(feature int, value Optional) {
	if value.Known {
		b.set(feature, value.Value)
	}
}

// share sets a part of a whole. A whole of nothing has no parts.
func (b *vector) share(feature int, part, whole int64) {
	if whole > 0 {
		b.set(feature, float64(part)/float64(whole))
	}
}
