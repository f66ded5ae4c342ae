// Package fioprofile finds out what disks can do, with fio (https://fio.readthedocs.io) as a child process: the collector
// diskprofile asks it for the disks of which nobody says it.
//
// # What is measured
//
// Random access past the page cache (direct I/O, libaio, 32 operations under way) to a file on the disk: reading, writing
// and half of each at 32 KiB, of which bandwidths are taken, then reading and writing at 4 KiB, of which operations per
// second are taken. 32 KiB is the block size for which DiskIO's capacities are meant. The mixed figure becomes the total,
// which on most disks is less than reading and writing together.
//
// # What bounds it
//
//   - One disk at a time, and one measurement at a time; two agents on a node exclude each other by a lock on the cache
//     file's neighbour.
//   - Each measurement begins only while the disk is busy for at most the configured share of three seconds. What
//     pods do comes first: a disk that is never idle is never measured.
//   - fio gets a file of a fixed size, and none that would leave less than a tenth of the file system free. The file is
//     removed after the disk's last measurement, also after a failed one, and one that a killed agent left behind is
//     removed by the next.
//   - fio is told how long to run, is killed at the time limit and when the agent stops, and by the kernel if the agent is
//     killed.
//   - A disk whose measurement failed is left alone for ten minutes.
//
// # What is kept
//
// Each measurement is written to the cache file as it ends, so that an agent that starts anew goes on where the one before
// ended. Entries are valid for a disk of the same identifier, vendor, model and size. To have a disk measured again,
// remove the file (and the node's NodeDiskDevice, see package diskprofile).
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package fioprofile
