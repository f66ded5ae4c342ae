// Package gpushare knows nodes whose GPUs are shared: which devices a pod fits on, which one it should get, and how
// much of the idle capacity is a fragment that typical pods cannot use.
//
// The fragmentation measure is that of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent" (USENIX ATC 2023).
//
// The package is pure: standard library only, no clock, no goroutine; its types are safe for concurrent reads.
package gpushare
