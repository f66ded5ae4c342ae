package model

import "time"

// EventKind says what happened.
type EventKind int

const (
	// Created: a pod arrived, or was tried again, and got a node.
	Created EventKind = iota + 1
	// Failed: a pod arrived, or was tried again, and got none.
	Failed
	// Deleted: a pod left its node. A pod that never got one has no such event.
	Deleted
)

// Event is one step of a simulation, with the state after it.
type Event struct {
	// Index counts the events of the trace from 0, as the predecessor's log lines do. Retries have that of the arrival.
	Index int
	Kind  EventKind
	Time  time.Duration
	// Pod is an index into the workload of the stage and also the pod itself, not to be changed.
	Pod     int
	PodSpec *Pod
	Binding Binding
	// Reason is why the pod got no node.
	Reason string
	// Usage is the state after the event. It is only valid during the call.
	Usage *Usage
}

// Observer is told of every event, in order, from the goroutine that runs the simulation.
type Observer interface {
	Observe(*Event)
}

// FragClass sorts the idle GPU capacity of a node by what a class of pods can do with it (reference: Weng et al.,
// "Beware of Fragmentation", USENIX ATC 2023, section 3, figure 5).
type FragClass int

const (
	// Q1LackBoth: neither CPU nor GPUs suffice.
	Q1LackBoth FragClass = iota
	// Q2LackGPU: CPU suffices, GPUs do not; also devices too small to help on a node where the pod fits.
	Q2LackGPU
	// Q3Satisfied: the pod fits; the only class that is no fragment.
	Q3Satisfied
	// Q4LackCPU: GPUs suffice, CPU does not.
	Q4LackCPU
	// XLSatisfied: the pod needs no GPU and its CPU fits.
	XLSatisfied
	// XRLackCPU: the pod needs no GPU and its CPU does not fit.
	XRLackCPU
	// NoAccess: the pod does not accept the node's GPU model.
	NoAccess
	// FragClasses is the number of classes.
	FragClasses
)

// Usage is the state of a cluster.
type Usage struct {
	// ArrivedGPUMilli is the GPU demand of all pods that have arrived, placed or not.
	ArrivedGPUMilli int64
	// UsedNodes are nodes with at least one pod. UsedNodeGPUs are all devices of those nodes, used or not, which is
	// what the predecessor calls "Used GPUs"; UsedGPUs are devices that at least one pod uses.
	UsedNodes, UsedNodeGPUs, UsedGPUs int
	// UsedCPUMilli, UsedMemoryBytes and UsedGPUMilli are requested by the pods that run.
	UsedCPUMilli, UsedMemoryBytes, UsedGPUMilli int64
	// TotalCPUMilli, TotalMemoryBytes, TotalGPUMilli and TotalGPUs are the cluster's.
	TotalCPUMilli, TotalMemoryBytes, TotalGPUMilli int64
	TotalGPUs                                      int
	// Frag is the idle GPU capacity in milli by class, in expectation over the typical pods. Its sum is the idle
	// capacity.
	Frag [FragClasses]float64
	// Bellman is the recursive variant of the fragmentation, in milli; it is only computed on demand and 0 otherwise.
	Bellman float64
}

// IdleGPUMilli is the GPU capacity that nobody uses.
func (u *Usage) IdleGPUMilli() int64 { return u.TotalGPUMilli - u.UsedGPUMilli }

// FragMilli is the expected part of the idle GPU capacity that a typical pod cannot use.
func (u *Usage) FragMilli() float64 {
	sum := 0.0
	for class, milli := range u.Frag {
		if FragClass(class) != Q3Satisfied {
			sum += milli
		}
	}
	return sum
}

// FragRatio is FragMilli in percent of the idle capacity; 0 when nothing is idle.
func (u *Usage) FragRatio() float64 {
	idle := u.IdleGPUMilli()
	if idle == 0 {
		return 0
	}
	return 100 * u.FragMilli() / float64(idle)
}
