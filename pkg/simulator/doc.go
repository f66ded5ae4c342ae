// Package simulator runs experiments: a workload, made to size, on a cluster, under a policy.
package simulator
