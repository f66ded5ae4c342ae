// Package diskprofile is the agent's collector that tells which disks the node has and what they can do, in the node's
// NodeDiskDevice.
//
// The disks are those that package hostdisk finds. What one can do is told by the first of these that knows it:
//
//  1. diskProfile.capacities of the configuration, by the first entry that fits;
//  2. what the node's NodeDiskDevice says when the agent starts, of a disk with the same identifier, vendor and model: an
//     earlier agent found it out, or somebody wrote it down;
//  3. what package fioprofile measured, now or earlier, if it was told to.
//
// So an entry that is removed from the configuration stays in force until the NodeDiskDevice is deleted and the agent
// starts anew. That is the price for agents that are replaced without measuring every disk again.
//
// A disk of which nobody knows is left out and counted in a metric: a scheduler that was told 0 would place nothing on it.
// If that is the default disk, nothing is reported, because the scheduler would find a node without a default disk and
// refuse it to pods that ask for bandwidth; and the round is an error, unless the disk is about to be measured.
//
// The default disk, of type "emptyDir", is the one behind defaultDiskPath; of several, as of a RAID, the first by name. A
// file system in memory or on the network has none, and then all disks are "others". In a pod the path needs a volume of
// the node's disk, and an emptyDir volume is one by definition, wherever the kubelet keeps its files: the chart mounts one
// there, and the agent needs no folder of the host.
//
// Mount points are reported for whole file systems. In a pod that is what is mounted into it whole, usually none, unless
// hostRoot has the host's proc folder: then the host's mounts count, for the default disk too.
//
// The object is written by server-side apply and owned by the Node, when it differs from the latest report and at each
// heartbeat, at most every 15 s. With simulated devices, those of the file are reported and the machine is not looked at.
//
// # Metrics
//
//	vicinity_agent_diskprofile_disks{capacity}       gauge; capacity is known or unknown
//	vicinity_agent_diskprofile_reports_total{reason} counter; reason is start, change or heartbeat
//	vicinity_agent_diskprofile_fio_attempts_total{outcome} counter; outcome is done, busy or failed
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package diskprofile
