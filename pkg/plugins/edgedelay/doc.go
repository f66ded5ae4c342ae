// Package edgedelay is the scheduler plugin EdgeDelay: it places pods within their bounds of round-trip times.
//
// It is a thin adapter: package delay holds the matrix, the estimates and the sets of nodes within a bound, package state
// fills the matrix, and the pods' labels and annotations are parsed in apis/vicinity. Each extension point has a file of
// its own.
//
//   - PreFilter reads the pod's bounds, finds what they refer to, and intersects the sets of the nodes within each. A
//     bound that cannot be read, or that refers to something that is not there or not placed, rejects the pod with a
//     reason that names it.
//   - Filter is the test of a bit; for a node that is out it says which bound it broke, and whether it is too far, not
//     certainly near enough, or unknown.
//   - PreScore skips pods without bounds where the cluster has no cloud node.
//   - Score is the mean of two terms, 0 to 100: the share of its bounds that the node leaves over, and how few others
//     need the node. A node is needed by others if it is among the few within a bound that pods asked for lately and
//     that fewer nodes are within than this pod's own. Pods without bounds score 100 in the cloud and 0 elsewhere.
//   - Reserve remembers where a pod is going until the informer shows it, because others may be bound to it.
//
// A label's reference is a node if there is one of that name, or if round-trip times to one are known: a node that died
// keeps its name as long as its peers report it. Otherwise it is a workload of the pod's namespace, and otherwise
// namespace.name. A bound to a workload holds for each of its placed pods, without those that have ended, are being
// deleted, or are the pod itself. When none is placed the pod waits, unless it belongs to that workload: the first pod of
// a workload that is to stay together goes anywhere.
//
// A bound to a zone is one to the median over the zone's nodes. A node of the zone is within it.
//
// A rejected pod is tried again when its bounds change, when a node or a pod that they refer to appears or goes, and,
// through Activate, when a round-trip time or an estimate changed such that a set that it needs gained a node.
//
// PreFilterExtensions is nil: evicting pods brings no node nearer, and the pods that a bound is to are not expected to be
// the victims. Placing a pod changes nothing for others unless they are bound to its workload, so pods with bounds to
// nodes, zones and endpoints are signed for batching, and others are not.
//
// The design allows about half a second between a change and its effect on signed pods (the framework's limit for
// reusing results).
package edgedelay
