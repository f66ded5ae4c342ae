// Package rtttargets keeps the list of what the agents measure: the nodes, and which of them and which external endpoints
// pods' bounds of the round-trip time refer to (package targets has the form). It is published in the ConfigMap
// vicinity-rtt-targets of the controller's namespace, which kubelets mount into the agents.
//
// # References
//
// Pods that are not over count, pending ones too: it is for them that bounds are decided. A bound to a workload or to a
// selector refers to each node on which one of its pods is, a bound to a zone to some nodes of the zone. Names in labels
// are taken for everything that they may be. It is better to measure too much than to leave a bound to an estimate; what is
// too much is bounded ([targets.MaxReferences], the most wanted ones first).
//
// A pod event changes counters only, in time that depends on the pod's own bounds and on how many different selectors there
// are, of which [maxSelectors] are followed. A pod whose bounds cannot be parsed refers to nothing; the scheduler tells its
// owner.
//
// # Publishing
//
// The leader publishes at most once in ten seconds, and only if the bytes of the document differ. The object itself belongs
// to the installation, so that the controller needs no right to create ConfigMaps. The token of the echo is made once and
// kept in the document; whoever wants a new one deletes the document's key.
//
// Endpoints come from users, and every agent probes them: an administrator can restrict them by patterns.
//
// On the API server it uses, beside what all reconcilers share:
//
//	nodes, pods                                 list, watch
//	configmaps vicinity-rtt-targets in NS       get, patch
//
// Metrics:
//
//	vicinity_controller_rtt_references            gauge; nodes that bounds refer to
//	vicinity_controller_rtt_endpoints             gauge; endpoints that bounds refer to and that are allowed
//	vicinity_controller_rtt_omitted{kind}         gauge; kind is node (outside of the sample), reference, endpoint or selector
//	vicinity_controller_rtt_publications_total    counter
package rtttargets
