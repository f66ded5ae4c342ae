// Package decisions is vicinity-sniffer, the service for the scheduler's decisions: why a pod is where it is, and why
// another one is pending.
//
// So far it is the shell of that service: one listener with /healthz, /readyz and /metrics, and an orderly stop. It
// accepts no decision records yet. What will stand here are the ingest of records (gRPC), their store (SQL), an HTTP
// API and a web page, each in a package below this one.
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package decisions
