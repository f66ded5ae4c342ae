// Package locality knows where a dataset's bytes are and how near a node is to them.
//
// A dataset's [Placement] lists gateways (nodes that serve it over a protocol, such as an S3 cache) and data
// locations (nodes that hold it in a distributed file system). Compiled against the cluster's nodes it becomes
// a [Reach], which tells for any node, in time that does not depend on the size of the cluster, the nearest
// topology tier that the node shares with a place the dataset is served from. A [Request] combines the reaches
// of all datasets a pod asks for into one score.
//
// Two nodes share a tier when both carry the tier's label with the same value and agree on every wider tier:
// rack "r1" of zone "a" is not rack "r1" of zone "b". The idea of topology tiers with falling weights is that of
// Fluid's tiered locality; the preference of gateways over data locations is Datashim's CacheAware fork's.
//
// The package is pure: standard library only, no clock, no goroutine. All its types are safe for concurrent
// reads once built.
package locality
