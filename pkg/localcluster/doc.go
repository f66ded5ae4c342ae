// Package localcluster runs a real Kubernetes control plane as child processes: etcd, kube-apiserver with RBAC,
// kube-controller-manager, and kwok, which plays the kubelets of fake nodes. It needs no container engine and no
// root, and a start takes seconds, so tests, scenarios and `vicinity up` all stand on it.
//
// # Programs
//
// Build compiles the programs from the modules pinned in hack/controlplane into the user's cache, once per version;
// it is the only part that needs a Go toolchain. KUBEBUILDER_ASSETS, when set, replaces them, and VICINITY_CACHE
// moves the cache.
//
// # Life of a cluster
//
// Start returns when the API server is ready, kwok and the controllers run, and pods can be created in namespace
// default. Everything binds to loopback on free ports, so clusters run side by side. Nodes carrying the label
// KwokLabel with value KwokManaged are kept alive by kwok; taking the label away is what a dead kubelet looks like.
//
// Nothing outlives the process that called Start: Stop ends the children in order and removes the temporary
// directory, and on Linux the kernel kills the children when the process dies in any other way. A directory that a
// killed process left behind is removed by the next Start of anyone (see sweep.go for how it knows).
//
// # Decisions
//
//   - The fake kubelets never complete pods, those of Jobs included: a pod holds its node's resources until it is
//     deleted, which is what placement tests need.
//   - kube-controller-manager runs with the rights of an administrator instead of one ServiceAccount per controller:
//     what it may do is not under test here, and thirty token requests are saved at each start.
//   - Node leases are renewed every 3 s and a silent node is NotReady after NodeGracePeriod, faster than in a
//     usual cluster, because scenarios wait for it.
//
// The package may be used by pkg/scenario, cmd/vicinity and tests; it imports no other package of this module but
// hack/controlplane.
package localcluster
