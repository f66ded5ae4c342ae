// Package model holds the plain values of a simulation: the cluster, the pods, and what became of them.
//
// Everything else under pkg/simulator talks through it: readers of input formats fill a [Cluster] and [Pod]s, engines
// turn them into a [Result], reports read that. Indexes, not names or pointers, connect the parts: a placement names
// its pod and node by their place in the slices that the simulation was given, so that a run over ten thousand pods
// needs no map.
//
// Times are durations since the start of the trace. A trace without times has zeros throughout: then the order of the
// slice is the order of arrival, and nothing departs.
//
// The package is pure: standard library and pkg/gpushare only, no clock, no goroutine, no randomness.
package model
