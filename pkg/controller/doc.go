// Package controller is vicinity-controller: one controller-runtime manager that runs Vicinity's reconcilers. A
// reconciler lives in a package of its own below this one and is added by one line in cmd/controller; there is no
// registry.
//
// Decisions that hold for every reconciler:
//
//   - Several replicas may run; one of them leads, by the Lease vicinity-controller in the controller's namespace, and
//     only it reconciles. The caches of the others are warm. The lease is given back at an orderly stop.
//   - /healthz tells that the process answers, /readyz that its caches are synchronised. A replica that does not lead
//     is ready.
//   - The program ends with an error if the API server does not answer when it starts, or if leadership is lost.
//     Kubernetes starts it again, with backoff.
//   - Reconcilers share one cache, and cache.go says what it keeps of which objects: of pods, of which there may be
//     50,000, those that are not over, and little of each. Nobody here reads managedFields.
//   - Nodes are watched whole and slimmed on arrival: controller-runtime's watch of metadata alone leaves a goroutine behind
//     now and then when it ends.
//   - Requests are not limited on this side: the API server's priority and fairness is there for that. Each reconciler
//     bounds how often it writes.
//   - Times are controller-runtime's: a lease lasts 15 s. A stop takes at most 20 s, of the 30 s that Kubernetes gives.
//
// On the API server the manager itself uses exactly this, where NS is its namespace:
//
//	leases.coordination.k8s.io in NS    get, create, update    only if it takes part in leader election
//	events in NS                        create                 the same; they tell who leads
//	/version                            get                    every authenticated user may
//
// What a reconciler uses besides stands in the doc.go of its package.
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package controller
