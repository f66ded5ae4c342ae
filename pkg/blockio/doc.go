// Package blockio knows what disks can do, what pods ask of them, and what is left.
//
// A pod's [Request] counts bytes and operations per second at block sizes of its choice. A [Model] of the disk turns
// it into a [Demand]: what it takes from the disk, in bytes per second at the block size that the disk's capacity
// was measured at. Demands on one disk add up. [Device.Free] tells what is left for another pod:
//
//	free = min(capacity - demands of all pods on the node, measured free - demands of the pods not measured yet)
//
// where the second term counts only while the measuring report is fresh. A report that is stale or absent is
// unknown, which is not zero: then only the first term counts. [Fit] compares a demand with it, and a [Scorer] ranks
// the disks that fit. Nothing is ever negative: a disk whose capacity shrank below what is placed on it has 0 left.
//
// The formulas of LeastAllocated and MostAllocated, the order of the comparisons and the reasons for a rejection
// are those of DiskIO in kubernetes-sigs/scheduler-plugins, pull request 762, which was never merged. Its divisions
// by zero are defined here: a direction that is not asked for takes no share of what is free, and one that is asked
// for where nothing is free takes it all. RequestedToCapacityRatio takes its shape from kube-scheduler's
// NodeResourcesFit.
//
// Operations per second are checked where the pod asks for them and the disk's capacity for them is known. Neither
// is derived from the other: asking for bandwidth charges no operations, and asking for operations charges no
// bandwidth, since a device's model accounts for the cost of small blocks already.
//
// The package is pure: standard library only, no clock, no goroutine. Its types are safe for concurrent reads.
// [Device.Free], [Fit], [Scorer.Score] and [Table.Normalize] do not allocate.
package blockio
