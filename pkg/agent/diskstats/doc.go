// Package diskstats is the agent's collector that measures how much bandwidth the node's disks have left, and reports it
// as the status of the node's NodeDiskIOStats.
//
// # What is measured
//
// Each round reads the kernel's counters of the whole disk, so that everything counts that reaches it, whoever wrote it
// and whether through the page cache or not. What a disk uses is averaged over the latest rounds, 30 by default. A disk
// whose counters went back was replaced: that step does not count. The averages themselves, how long operations took and
// for how long the disk was busy are reported too, for people.
//
// Which disks there are, and what they can do, stands in the node's NodeDiskDevice, which the collector diskprofile or
// anybody else writes; it is read again at each heartbeat. A disk of it is found by its name, the kernel's. What is left
// is the capacity less what is measured, never below 0, for reading, writing and both at once; and for operations where
// the capacity tells how many there can be (then at least 1, because 0 would say that the number is not known). Bytes are
// counted as they are, not normalised to the block size of the capacity: the agent does not know the models.
//
// The pressure of a disk is the share of time in which processes waited for any disk, but not more than the share in
// which this one was busy: the kernel counts the former for all disks together. Where it does not count it, pressure is
// not reported.
//
// # Which pods are contained
//
// The kernel keeps a control group for each pod, whose name tells the pod's UID: no API server has to be asked. A pod that
// has had one for half of the window is one whose use the report contains, and is listed in observedPods; of the others
// the scheduler goes by what they ask for. A change of the list alone is not worth a report: until the next one the
// scheduler errs on the safe side. Where no pod is seen (control groups of version 1, or an agent in a pod that does not
// have the host's, see hostRoot) the list is absent, which stands for spec.reservedPods. What pods do with disks (io.stat)
// goes into metrics only, for all pods together: a time series per pod would be the container runtime's business.
//
// # When a report is sent
//
// When a disk has appeared or is gone, when what is left differs from what was reported by at least
// reportThresholdPercent of the capacity, when the spec of the object has a new generation, and when the heartbeat is
// due; never twice within 15 s, failed attempts included. The first report waits until half the window is filled.
//
// The scheduler believes a report only if observedGeneration is the object's generation, so the object is read every
// 15 s. It is polled, not watched: that needs the right to get one object and not to list all of them, and a cluster of
// 5,000 nodes 333 cheap requests a second. Until then the scheduler counts requests only, which errs on the safe side.
// If nobody has created the object, the
// agent does, owned by the Node; its spec is otherwise left to the controller.
//
// # Metrics
//
//	vicinity_agent_diskstats_bytes_per_second{device,direction}      gauge; direction is read or write
//	vicinity_agent_diskstats_operations_per_second{device,direction} gauge
//	vicinity_agent_diskstats_wait_seconds{device,direction}          gauge; mean time that an operation took
//	vicinity_agent_diskstats_busy_ratio{device}                      gauge, 0 to 1
//	vicinity_agent_diskstats_pressure_ratio{share}                   gauge, 0 to 1; share is some or full
//	vicinity_agent_diskstats_pods                                    gauge; pods whose control group is there
//	vicinity_agent_diskstats_pods_bytes_per_second{device,direction} gauge; of all pods together
//	vicinity_agent_diskstats_reports_total{reason}                   counter; reason is start, change or heartbeat
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package diskstats
