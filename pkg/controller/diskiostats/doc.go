// Package diskiostats is the reconciler that gives each node with described disks its NodeDiskIOStats, in which the
// node's driver reports what the disks have left.
//
// For each NodeDiskDevice whose Node exists there is one NodeDiskIOStats, in the same namespace, named
// <node>-nodediskiostats. The Node owns it, so it vanishes with the Node; when the NodeDiskDevice alone is deleted this
// reconciler deletes it. Objects for the node under other names belong to somebody else and are left alone.
//
// spec.reservedPods lists the UIDs of the pods on the node that are not over, in order, the first 4096 of them.
// Vicinity's own agent does not need it: drivers written for the predecessor, whose scheduler wrote this list, subtract
// from the disk's capacity what these pods ask for.
//
//   - A change of a node's pods is written a second later, together with what else changed meanwhile. So a node costs
//     one write per second at most, and nothing is written that is there already.
//   - Pods are found by an index on their node's name in the shared cache; no change lists them all.
//   - Only spec and the owner are written, by server-side apply; the status is the driver's. What others wrote to these
//     fields is overwritten, because the predecessor's scheduler left wrong lists behind.
//
// On the API server it uses exactly this:
//
//	nodes, pods                          list, watch
//	nodediskdevices.diskio.x-k8s.io      list, watch
//	nodediskiostats.diskio.x-k8s.io      list, watch, create, patch, delete
//
// Apply is a patch, which creates what is absent, and needs both rights for that. If one of the two CRDs is missing the
// controller ends with an error that names it, and Kubernetes starts it again.
package diskiostats
