// Package deschedule chooses the pods to evict from a running cluster so that what is left idle becomes usable again.
//
// The policies are those of the predecessor (hkust-adsl kubernetes-scheduler-simulator): [CosSim], [FragOnePod] and
// [FragMultiPod]. Where it went on to count with a node's resources from before an eviction, this package looks at
// what is free then.
//
// The package is pure: standard library, pkg/gpushare and the simulator's own pure packages only.
package deschedule
