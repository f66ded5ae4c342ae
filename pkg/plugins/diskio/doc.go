// Package diskio is the scheduler plugin DiskIO: it places pods where disks have bandwidth left.
//
// It is a thin adapter: package blockio holds the arithmetic, package state knows the nodes' disks, and the pods'
// annotations are parsed in apis/vicinity. Each extension point has a file of its own.
//
//   - PreFilter reads what the pod asks for and turns it, with the model of each kind of disk in the cluster, into
//     what it takes from a disk of that kind. An annotation that cannot be read rejects the pod with a reason that
//     names it.
//   - Filter compares that with what the node's disk has left. Pods without an annotation are best effort: they are
//     charged a minimum, and only a full disk rejects them. Nodes whose disks nobody described take any pod that
//     does not ask for bandwidth.
//   - PreScore skips pods of the namespaces that are not looked at.
//   - Score is the blockio score of the disk. A node without known disks scores 100 for best-effort pods, as with the
//     predecessor: they leave the disks that are accounted for to those who ask.
//
// What a node's pods take is summed from the NodeInfo that Filter is given, and remembered by the NodeInfo's
// generation. So it needs no reservations of its own: it is right after a restart, sees the pods of other schedulers
// and those assumed but not bound, and the scheduler's preemption can try nodes with pods taken away.
//
// A demand on a volume is charged to the disk behind it: for a claim that is bound to a local volume the disk that the
// volume's path is mounted from, and the node's default disk for the pod as a whole, for emptyDir and other volumes on
// the node, and for claims that are not bound yet. Volumes that are not on the node are charged nothing.
//
// A claim that waits for its first consumer has no volume while nodes are filtered: plugin VolumeBinding matches volumes
// for each node and keeps the match to itself, and repeating it here could choose others. (A volume reserved for the
// claim needs no guess: the volume controller binds it at once.) The claim is bound before the pod is, and the pod's
// update raises the generation of the NodeInfo, so from then on the disk behind the volume is charged.
//
// What a node's disks have left is kept as an immutable view, found by one look-up of the node's name; see views. Filter
// and Score read nothing else of a node.
//
// A rejected pod is tried again when its annotations change, when a pod on a node with known disks is deleted, when a
// node appears, and, through Activate, when a node's disks or their report change.
package diskio
