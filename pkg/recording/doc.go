// Package recording connects a kube-scheduler with the recorder of plugin Sniffer, without a patch to either.
//
// [Install] replaces, between app.Setup and app.Run, each scheduling profile that has the plugin by a struct that embeds
// it, and the scheduler's two exported functions SchedulePod and FailureHandler by ones that call them. The struct passes
// every call on, once, and notes what came back, so plugins run as often as before, in the same order, with the same
// arguments. Plugins hold the original profile: what they ask of it, such as preemption's trial runs, is not seen here.
// Queueing hints were read, and pod signatures are made, by the original.
//
// It stands apart from the plugin because framework.Framework is part of k8s.io/kubernetes, which plugins must not
// import; and it is no part of cmd/scheduler because tests, benchmarks and the simulator drive schedulers too. See
// docs/adr/0002-recording-from-outside.md.
//
// A profile schedules one pod at a time, so the attempt that goes on is a field of it. Filters, which run in parallel,
// only read that field. The binding cycle finds its attempt in the cycle's state.
package recording
