// Package mlpscore is the scheduler plugin MLPScore: it scores nodes with a trained network, in-process.
//
// It is a thin adapter: package feature says what the network sees of a pod and a node, package mlp evaluates it, and
// models come through the interface [Models]. Each extension point has a file of its own.
//
//   - PreScore evaluates the network for all feasible nodes at once. Outputs depend on the pod's shape and the node's
//     state alone, so they are kept by shape and node until the node's generation changes: after a placement one node is
//     evaluated anew, not five thousand.
//   - Score reads what PreScore left. When PreScore is not enabled it evaluates the one node itself, so a profile that
//     enables the plugin under score only works as well; it is slower.
//   - NormalizeScore makes one node the winner: it gets 100, all others 99 or less. Outputs are compared in hundredths,
//     and among equals the node that comes first in a fixed pseudo-random order of names wins. kube-scheduler itself would
//     draw among equals, which costs a cluster full of GPUs about five points of allocation: pods then spread over
//     nodes that are equally good, and none stays whole.
//   - PreScore also leaves an explainer for decision records: the features that a node's output depends on most.
//   - Reserve counts, in mode Shadow, whether the network would have chosen the node that was chosen.
//
// What the network cannot score the fallback does: when the deadline has passed, when an output is not a number, when a
// server does not answer. A scorer must never keep a pod from being placed: none of this is an error.
//
// The devices of a node are read from its allocatable alibabacloud.com/gpu-count, else nvidia.com/gpu; what is free of
// them from the annotations of the pods in the NodeInfo, and pods without a device number take the first ones with room,
// as the device plugin would. Annotations that cannot be read count as no demand and are counted in a metric: this plugin
// places, it does not admit.
//
// Features of data, disk and delay are unknown to the network so far; the schema has their places.
//
// Pods are signed with what the network sees of them: placing one changes its own node only. The network has no features
// of the cluster as a whole, which would forbid that.
package mlpscore
