// Package locality knows where the bytes of datasets are, and what it is worth to be near them.
//
// A [Dataset] lists its replicas: places that hold some of its bytes, or gateways that serve them. Compiled
// against the cluster's nodes by [NewReach] it tells for any node, in time that does not depend on the size of
// the cluster, which share of the dataset's bytes need not be fetched from afar. A [Request] combines the
// datasets a pod asks for into one score: the expected share of bytes saved.
//
//	score(node) = 100 x sum over datasets (weight x value) / sum (weight)
//	value       = max over replicas (fraction cached x medium factor x tier factor)
//	weight      = the dataset's size; without a size, the mean of the sizes known
//
// The tier factor is 1 on the replica's own node and falls with each wider topology tier that a node shares with
// it. Two nodes share a tier when both carry the tier's label with the same value and agree on every wider tier:
// rack "r1" of zone "a" is not rack "r1" of zone "b". A gateway serves with its tier factor only.
//
// Tiers with falling weights are the idea of Fluid's tiered locality; [Rules.Compatible] gives the 100/50/0 of the
// CacheAware fork for Datashim. Waiting a bounded time for a warm node ([Patience]) is delay scheduling: Zaharia
// et al., "Delay Scheduling", EuroSys 2010. [Home] is rendezvous hashing: Thaler and Ravishankar, "Using
// Name-Based Mappings to Increase Hit Rates", 1998.
//
// The package is pure: standard library only, no clock, no goroutine. All its types are safe for concurrent
// reads once built.
package locality
