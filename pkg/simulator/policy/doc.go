// Package policy decides natively which node and which devices a pod gets: the policies of the fragmentation study
// (Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
// USENIX ATC 2023), with the arithmetic of its simulator.
//
// The package imports the standard library, pkg/gpushare and pkg/simulator/model only.
package policy
