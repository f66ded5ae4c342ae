// Package version knows which build of Vicinity is running.
//
// Every binary of the project prints it for --version and exports it as the metric
// vicinity_build_info. It is not the Kubernetes version: k8s.io/component-base/version keeps
// that one, because the scheduler must go on presenting itself as the kube-scheduler it embeds.
//
// The package imports the standard library only, so that anything may import it.
package version
