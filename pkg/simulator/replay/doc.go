// Package replay plays recorded decisions again: the same pods come at the same times, another configuration decides, and
// each pod's nodes are compared.
//
// The pods' requests are those of manifests or of a snapshot, because records do not hold them. Times are those of the
// records. Pods that were recorded and are not known, and decisions that the recorder dropped, are counted: what a replay
// shows is only as whole as its records.
package replay
