// Package engine runs a workload on a cluster: arrivals, departures, waiting, failures and the virtual clock.
//
// It does not decide where pods go: a [Scheduler] does, which is a native policy or the real scheduling framework. The
// engine owns what is free ([occupancy.State]), checks every decision against it, and tells the scheduler what came of
// it.
//
// # Time
//
// Time passes from event to event. What the trace says is sorted once, stably: at equal times the order is that of the
// pods, and a trace without times is played in its order. What comes up during the run goes through a heap, and before
// the trace at equal times: departures, nodes that come back, nodes that fail, then waiting pods, the oldest first.
//
// # Waiting
//
// Without [Queue].Retry a pod that finds no node is dropped, as the predecessor does. With it the pod waits as in
// kube-scheduler: it is tried again when something has changed that may help it, and not before a back-off has passed
// that doubles with each attempt. What may help is a departure from, or the return of, a node that the pod would then
// fit on; a scheduler that is no [Hinter] is asked again after every one.
//
// # How long pods run
//
// Until their Departure, whatever happens; or, with RunFullLength, for the time between Arrival and Departure from when
// they got a node. Only then data, disks and failures have a price: fetching data comes before the work, an overloaded
// disk stretches it for the pods that use it (each change of the load sets the speed anew and voids the departures that
// were planned), and a failure makes it start over.
//
// # Speed
//
// The engine does nothing per node for an event but what the scheduler does. The native policies keep each score until
// the node changes, by node version and class of pods, so that an event costs one walk over the nodes and a few scores.
package engine
