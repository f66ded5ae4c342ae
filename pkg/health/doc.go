// Package health serves the HTTP endpoints that every long-running Vicinity process has:
//
//	GET /healthz            liveness; 200 "ok", or 500 and the names of the checks that fail
//	GET /readyz             readiness, in the same form
//	GET /readyz?verbose     one line a check, also on success
//	GET /readyz/<check>     one check, with the reason of its failure
//	GET /metrics            Prometheus metrics
//
// The checks are answered by controller-runtime's healthz handler, so that they look and behave
// like those of the Kubernetes components. The endpoints are plain HTTP and ask for no
// credentials; what they show must be fit for anybody who can reach the address.
//
// The controller does not use [Serve]: controller-runtime's manager brings the same endpoints.
package health
