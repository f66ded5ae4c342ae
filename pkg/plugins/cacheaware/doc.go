// Package cacheaware is the scheduler plugin CacheAware: it places pods near the datasets they use.
//
// It is a thin adapter: package locality holds the rules and the formula of the score, package state knows where
// datasets are. Each extension point has a file of its own.
//
//   - PreFilter finds the pod's datasets (by Datashim's labels or by volume claims), and where they are now.
//     Labels or annotations that cannot be read reject the pod with a reason that names them.
//   - Filter acts on pods that require a dataset, or still wait for a warm node: a node must hold the dataset, or
//     be as near to it as the pod's patience admits.
//   - PostFilter tells the user which required dataset was missing on most nodes.
//   - PreScore skips pods without a dataset whose place is known, unless a cold one has a home among the nodes.
//   - Score is the expected share of bytes saved, 0 to 100. It is absolute, so there is no normalisation: a node
//     far from all data scores 0 even if no other node is nearer.
//   - Reserve counts the pod on its dataset's gateways and remembers that its node will become warm.
//
// A rejected pod is tried again when its labels or annotations change, when a node or a volume claim that can
// help appears, and, through Activate, when one of its datasets changes or its patience admits another tier.
//
// A dataset that no usable node holds is cold when nodes keep what they read and agents watch it
// (locality.Dataset.NodeCached); else it is unknown, and to its pods all nodes are equal.
//
// The load of a gateway is counted from the scheduler's pod informer and from Reserve. That equals a count over
// the scheduler's snapshot (bound and assumed pods of every scheduler, complete after a restart), but is updated
// when a pod changes instead of being summed over all nodes for each pod.
//
// How long a pod has waited is read from the transition time of its PodScheduled condition, so it survives a
// restart of the scheduler. For a pod that had scheduling gates the condition, and the wait, begin with the gate.
package cacheaware
