// Package diskmodel loads models of disks: data that says what a request for bandwidth takes from a disk of one
// vendor and model, compiled into [blockio.Model].
//
// A model document is YAML or JSON, at most [MaxDocument] bytes, read strictly ([Parse]):
//
//	kind: Table                  # ratios by block size; see blockio.Table
//	readRatios: {512: 13.43, 4k: 1.75, 32k: 1}
//	writeRatios: {512: 53.2, 4k: 5.09, 32k: 1}
//	mixed: 1                     # default 1
//	iops: {read: 400000, write: 90000}  # optional, any kind: for disks whose own are not reported
//
//	kind: CEL                    # variables and result in doubles; bytes per second, bytes
//	expression: '{"read": read * 1.2, "write": write, "total": read * 1.2 + write}'
//
//	kind: Identity               # every byte costs a byte
//
// In a CEL expression read and write are what the pod asks for, readBlockSize and writeBlockSize the sizes of their
// blocks, and blockSize is the smaller one of those of the directions asked for. The math extension is available.
// The result may leave out total, which is read + write then. Type errors are found when the document is loaded, as
// is a result that is negative, infinite or no number at any of the usual block sizes; one that shows up later is an
// error of Normalize. Evaluation is bounded by [CostLimit].
//
// A [Loader] reads documents from a file or folder and from a list of vendors in the predecessor's form, which is
// fetched over http, https or from files. What it has loaded is an immutable [Snapshot]. A document that cannot be
// loaded leaves the last good model of its disk in place, is counted in vicinity_disk_model_load_failures_total, and
// affects no other. Native plug-ins, which the predecessor loaded into the scheduler, are refused.
//
// The documents come from whoever may write the ConfigMap or the folder; that may make the scheduler fetch any URL
// that it can reach, so it is a right of administrators.
package diskmodel
