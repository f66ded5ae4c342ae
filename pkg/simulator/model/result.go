package model

import "time"

// Unplaced is the node index of a pod that runs nowhere.
const Unplaced = -1

// Binding is a decision: the node and the devices that a pod gets.
type Binding struct {
	// Node is an index into Cluster.Nodes, or Unplaced.
	Node int
	// GPUs are the indexes of the node's devices, ascending; nil for pods without GPUs.
	GPUs []int
}

// Placement is what became of one pod.
type Placement struct {
	// Pod is an index into Result.Pods.
	Pod int
	// Binding is the last one of the pod; it stays after the pod has departed.
	Binding Binding
	// Arrived, Placed and Departed are times since the start of the trace. Placed and Departed mean nothing before
	// the pod was placed and has left, which HasDeparted tells.
	Arrived, Placed, Departed time.Duration
	HasDeparted               bool
	// StageIn is how long the pod's data took to get to its node, of which Fetched are the bytes by where they came
	// from. Stalled is how much longer the pod ran because its node's disk was overloaded. Restarts counts the failures
	// of nodes under it.
	StageIn, Stalled time.Duration
	Fetched          [Distances]int64
	Restarts         int
	// PeerRTT is the mean round trip to the pod's peers that ran when it was placed; HasPeerRTT says whether any did.
	PeerRTT    time.Duration
	HasPeerRTT bool
	// Attempts counts the decisions that were made for the pod.
	Attempts int
	// Reason is why the last attempt found no node; empty for placed pods.
	Reason string
}

// Scheduled says whether the pod got a node.
func (p *Placement) Scheduled() bool { return p.Binding.Node != Unplaced }

// Result is a finished simulation.
type Result struct {
	// Policy, Trace and Seed name the run.
	Policy, Trace string
	Seed          int64
	// Nodes are the cluster's, in its order.
	Nodes []Node
	// Pods are those that arrived, tuned and ordered: the order of arrival.
	Pods []Pod
	// Placements are one for each pod, in the same order.
	Placements []Placement
	// Curve has a point for each whole percent of arrived GPU demand from 0 to the last one that was reached.
	Curve []CurvePoint
	// Stages are the cluster's state after each stage of the experiment; the first is "InitSchedule".
	Stages []Stage
	// Decisions counts attempts over all pods.
	Decisions int
}

// Count is the number of pods that got a node and of those that did not.
func (r *Result) Count() (scheduled, unscheduled int) {
	for i := range r.Placements {
		if r.Placements[i].Scheduled() {
			scheduled++
		}
	}
	return scheduled, len(r.Placements) - scheduled
}

// CurvePoint is the mean over all events at which the arrived GPU demand, rounded to a whole percent of the cluster's
// GPU capacity, was ArrivedPercent. A point without an event repeats its neighbour.
type CurvePoint struct {
	ArrivedPercent int
	// Allocation is the allocated part of the GPU capacity in percent.
	Allocation float64
	// FragCapacity is the expected unusable part of the GPU capacity (Weng et al., ATC 2023) in percent.
	FragCapacity float64
	// FragRatio is the expected unusable part of the idle GPU capacity in percent; 0 when nothing is idle.
	FragRatio float64
}

// Stage is the cluster's state at the end of one part of an experiment.
type Stage struct {
	// Tag is the predecessor's name for it: InitSchedule, PostEviction, PostDeschedule, ScheduleInflation or
	// DescheduleInflation.
	Tag string
	// Usage is the state of the whole cluster.
	Usage Usage
	// NodesLeft is the state of each node, in the cluster's order.
	NodesLeft []NodeLeft
	// Placements are the pods' at that moment; only their Pod and Binding are set.
	Placements []Placement
	// Evicted are the pods that descheduling took off their nodes, as indexes into Result.Pods.
	Evicted []int
	// Inflated is the number of pods that an inflation added, InflatedScheduled that of those which got a node. They
	// are no part of Result.Pods and gone after the stage.
	Inflated, InflatedScheduled int
}

// NodeLeft is what is free on one node.
type NodeLeft struct {
	CPUMilli, MemoryBytes int64
	// GPUMilli is the idle part of each device.
	GPUMilli []int
	Pods     int
}
