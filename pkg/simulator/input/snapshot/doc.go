// Package snapshot reads the nodes and pods of a live cluster, as they are at one moment.
//
// It lists nodes and pods, page by page, and does nothing else: the verbs get, list for nodes and pods are all it needs.
// The simulator has no other connection to a cluster.
package snapshot
