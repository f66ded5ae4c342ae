// Package engine runs a workload on a cluster: arrivals, departures, retries and the virtual clock.
//
// It does not decide where pods go: a [Scheduler] does, which is a native policy or the real scheduling framework.
package engine
