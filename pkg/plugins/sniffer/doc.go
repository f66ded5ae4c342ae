// Package sniffer records every scheduling decision: what was tried for a pod, on which nodes, what each plugin said,
// and what came of it.
//
// The scheduler plugin [Sniffer] sees a node reserved, given back, and bound (Reserve, Unreserve, PostBind). It filters
// and scores nothing, so it needs no signature and does not end opportunistic batching, and it registers no events, so
// no pod is queued again for its sake. The rest is seen from outside of the framework, by package recording, which calls
// the [Recorder] here: kube-scheduler offers no extension point that sees other plugins' verdicts, and wrapping each
// plugin, as kube-scheduler-simulator does, hides its optional interfaces from the framework.
//
// An [Attempt] is filled by the goroutine that schedules, and then by the one that binds; the two never overlap. When it
// ends it is put into a bounded ring, from which one writer turns it into a trace.Record and hands that to the sinks. A
// full ring loses the attempt, not time: it is counted, and its sequence number stays unused. Attempts are pooled; what
// grows with the cluster (the verdict on each node) is summed up at the end of the scheduling cycle.
//
// The predecessor, scheduler-sniffer (2024), patched kube-scheduler and dialled a service twice for each pod on the
// scheduling path; see docs/sniffer.md for what differs.
package sniffer
