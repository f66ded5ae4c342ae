// Package workload makes the pods of an experiment: it orders them, sizes them to a cluster, and finds the typical
// ones among them.
//
// What draws random numbers draws them in the order and with the generator of the predecessor (hkust-adsl
// kubernetes-scheduler-simulator), so that a seed means the same pods in the same order: see [Prepare].
//
// The package is pure: standard library, pkg/gpushare and pkg/simulator/model only.
package workload
