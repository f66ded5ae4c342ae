// Package trace holds the decisions of a scheduler as plain values: what was tried for a pod, on which nodes, what each
// plugin said, and what came of it.
//
// A [Record] is one scheduling attempt of one pod, keyed by the pod's UID and the attempt's number. It is what the
// scheduler's recorder writes, what the service vicinity-sniffer stores, and what the simulator and the trainer read and
// write too. It stays small however large the cluster is: nodes that were rejected are counted by plugin and reason, and
// only the best few of those that were scored are listed. An [Event] is one thing that happened to a pod or a node, as
// the predecessor (scheduler-sniffer, 2024) logged them, with a namespace and a UID added.
//
// Both have a JSON form, one object a line. A reader ignores fields that it does not know, and refuses a record whose
// major version is newer than its own ([SchemaVersion]). The protobuf form is apis/trace/v1; package tracewire converts.
//
// The package is pure: standard library only, no clock, no goroutine.
package trace
