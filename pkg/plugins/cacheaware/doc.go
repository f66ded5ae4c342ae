// Package cacheaware is the scheduler plugin CacheAware: it places pods near the datasets they use.
//
// It is a thin adapter: package locality holds the rules, package state knows where datasets are. Each extension
// point has a file of its own.
//
//   - PreFilter finds the pod's datasets (by Datashim's labels or by volume claims), and where they are now.
//     Labels or annotations that cannot be read reject the pod with a reason that names them.
//   - Filter acts on pods whose policy is Required: a node must serve or hold each of their datasets.
//   - PreScore skips pods without a dataset whose place is known: to them all nodes are equal.
//   - Score is the mean over the datasets of the nearness of the node, 0 to 100. It is absolute, so there is no
//     normalisation: a node far from all data scores 0 even if no other node is nearer.
//
// A rejected pod is tried again when its labels or annotations change, when a node or a volume claim that can
// help appears, and, through Activate, when the placement of one of its datasets changes.
package cacheaware
