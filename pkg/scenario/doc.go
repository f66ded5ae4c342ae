// Package scenario runs scenario files, which package format reads, against a real control plane: it applies objects,
// waits, kills processes, and judges where pods went and why.
//
// Decisions:
//
//   - A step that starts pods is preceded by a short settling time when objects other than pods have changed. Nothing in
//     the API says when another process's informers have seen an object, and a pod that is scheduled before that tests
//     the informer's speed instead of the plugin.
//   - A pod that is bound stays bound. An expectation that names a pod fails as soon as that pod is on a wrong node,
//     unless a controller owns the pod and may replace it.
//   - Scenarios run one after the other on a shared cluster. Each has its own namespace and its own nodes, and pods and
//     cluster-scoped objects are deleted and awaited before the next one starts; the namespace itself is deleted without
//     waiting because kube-controller-manager takes seconds for it and no other scenario looks into it.
//   - Scenarios that need another set of foreign CRDs than the shared cluster has, that install or remove CRDs, or that
//     kill or restart a process, run on a cluster of their own. On two processors one of these runs beside the shared
//     cluster, on larger machines up to three.
//   - The scheduler is restarted only between scenarios of different profiles; those with the same profile are run
//     together.
package scenario
