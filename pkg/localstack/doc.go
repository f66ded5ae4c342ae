// Package localstack runs Vicinity's components as child processes on a local control plane: it installs the manifests,
// writes the scheduler's configuration and starts the executables under the manifests' own ServiceAccounts. `vicinity
// up`, the scenario runner and the integration tests share it, so that they run the same thing.
//
// Decisions:
//
//   - Everything of manifests/install.yaml is applied except workloads (Deployment, DaemonSet, StatefulSet, Job,
//     CronJob), since the components run as processes beside the control plane and not in pods.
//   - The scheduler's configuration is the one of the manifests' ConfigMap. Only what a process outside of a pod needs
//     is added: the kubeconfig. Leader election stays as configured, so that its permissions are exercised too.
//   - A component that was killed leaves its leader election lease behind, which would keep its successor waiting for
//     the lease's duration; starting a component therefore removes the lease of its dead predecessor.
//   - Objects are written by server-side apply with one field manager and force, which makes every call repeatable.
package localstack
