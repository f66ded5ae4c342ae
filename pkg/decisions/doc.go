// Package decisions is vicinity-sniffer, the service for the scheduler's decisions: why a pod is where it is, and why
// another one is pending.
//
// Records come in over gRPC (ingest), what becomes of pods and nodes is watched (watch), both are stored in SQLite or
// PostgreSQL (store), and questions are answered over HTTP (api), in words too (explain), and on a page (web). This
// package puts them together: listeners in, one error out.
//
// The parts meet in the store only. Any of them can be left out: without a Kubernetes API server there is nobody to tell
// who may see what, so then there is no HTTP and no watcher, and records are only stored.
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package decisions
