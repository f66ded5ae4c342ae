// Package datasets is the agent's collector that counts how many bytes of which datasets lie on the node, and reports
// them as the status of the node's NodeDatasetCache. docs/agent.md tells administrators how to use it.
//
// # What is counted
//
// A root is a folder with a medium; its layout says which folders below it are datasets. A dataset's bytes are the
// blocks that its regular files have allocated (st_blocks), so a sparse file counts what it takes and not what it
// promises; where a file system does not tell, the size counts. Folders, links and devices count nothing. A file with
// several names counts once in each dataset that has one. The size of the whole dataset is not known here, and
// totalBytes stays absent.
//
// A walk follows no symbolic link below the root's path, so a loop of links ends where it starts, and stays on the root's
// file system: what is mounted below may be the remote data itself, behind FUSE or NFS, where a lookup can hang. (A bind
// mount of the same file system is not told from a folder.) Folders nested deeper than 128 are left out.
//
// # How a walk goes on
//
// A round walks until three quarters of its time are over, reports in the rest, and leaves the walk where it stands; the
// next round takes it up there. What is held meanwhile is a stack of open folders with at most 256 names each, whatever
// the size of the tree. Roots take turns of 4096 steps, so that a huge disk does not hold up a small memory cache, and
// the rate limit is for all together. A round begins at most one new walk a root: at the end of its walk a root rests
// until the next round.
//
// A dataset's count replaces the last one when it is complete, dated with the beginning of that round. Until then, and
// for datasets that this process has not come to since it started, the last complete count stands, even if an earlier
// agent made it. A dataset is gone when a walk got through the whole root without meeting it. That needs a root that
// could be read: one that is missing, unreadable or covered by another mount keeps its counts until it is back, for
// ten minutes at most, and so do datasets whose own folder, or one above it, cannot be read. A folder that cannot be
// read further down is skipped and counted in a metric; the rest of its dataset counts.
//
// Before a count is taken over, the root's path must still lead to the folder that was walked: if that was renamed or
// unmounted under way, everything below seems to vanish.
//
// # When a report is sent
//
// When a dataset appears or is gone, when one differs by at least reportThresholdPercent from what was reported, and
// when the heartbeat is due; never twice within 15 s, failed attempts included. The rule is relative, because what the
// scheduler makes of the bytes is a fraction too. The report is written by server-side apply with field manager
// vicinity-agent; the object is created with the Node as its owner. It lists at most 2048 datasets and at most what etcd
// takes, the largest ones.
//
// A lookup on a hanging file system cannot be interrupted. The Runner then finds the agent stuck, and a restart is right:
// nothing of what is kept here is lost with the process but the position of the walks.
//
// # Metrics
//
//	vicinity_agent_datasets_examined_total                         counter; files and folders looked up
//	vicinity_agent_datasets_skipped_total{reason}                  counter; reason is unreadable, other_device, link, name,
//	                                                               too_deep or too_many
//	vicinity_agent_datasets_found                                  gauge; datasets with bytes, once a medium
//	vicinity_agent_datasets_omitted                                gauge; of these, left out of the latest report
//	vicinity_agent_datasets_cached_bytes{medium}                   gauge, bytes
//	vicinity_agent_datasets_reports_total{reason}                  counter; reason is start, change or heartbeat
//	vicinity_agent_datasets_root_passes_total{root}                counter; complete walks
//	vicinity_agent_datasets_root_last_pass_timestamp_seconds{root} gauge, seconds since 1970; 0 before the first
//	vicinity_agent_datasets_root_readable{root}                    gauge, 0 or 1
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package datasets
