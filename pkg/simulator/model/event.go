package model

import (
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
)

// EventKind says what happened.
type EventKind int

const (
	// Created means that a pod arrived, or was tried again, and got a node.
	Created EventKind = iota + 1
	// Failed means that a pod arrived, or was tried again, and got none.
	Failed
	// Deleted means that a pod left its node. A pod that never got one has no such event.
	Deleted
	// Lost means that the pod's node failed under it.
	Lost
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
	// Frag is the idle GPU capacity in milli by quadrant, in expectation over the typical pods. Its sum is the idle
	// capacity, and Frag.Fragment() the part that typical pods cannot use.
	Frag gpushare.Amounts
	// Bellman is the recursive variant of the fragmentation, in milli; it is only computed on demand and 0 otherwise.
	Bellman float64
}

// IdleGPUMilli is the GPU capacity that nobody uses.
func (u *Usage) IdleGPUMilli() int64 { return u.TotalGPUMilli - u.UsedGPUMilli }

// FragRatio is the fragment in percent of the idle capacity; 0 when nothing is idle.
func (u *Usage) FragRatio() float64 {
	idle := u.IdleGPUMilli()
	if idle == 0 {
		return 0
	}
	return 100 * u.Frag.Fragment() / float64(idle)
}
