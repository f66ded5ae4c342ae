// Package framework decides with the real scheduling framework: any KubeSchedulerConfiguration, with kube-scheduler's own
// plugins and ours, on the cluster that the simulator's engine plays.
//
// kube-scheduler is built as in a cluster, by its constructor, but with a client in memory that nobody writes to. Its
// informers are started only where there are volumes and other objects to be known, and read that client. Nodes go into
// its cache at the start, pods when the engine places them. Each decision is UpdateSnapshot and SchedulePod; what the
// engine then takes is AssumePod and the Reserve plugins, what it gives back is Unreserve and RemoveAssumedPod. Nothing
// binds, nothing is preempted, extenders are not called, and there is never a connection. Goroutines that kube-scheduler
// starts end with the context.
//
// # What makes it repeatable
//
// kube-scheduler lets three things decide that are no input. Filters run in parallel, so that feasible nodes come in any
// order, and which of them are found first differs when it does not look at all: here one goroutine runs them. Equal
// scores are won by whatever the heap of scores holds on top: here [tamed] marks the winner, the first node in the
// experiment's order or one drawn from the run's random numbers, with the draws of the native policies. And results are
// reused for half a second of real time for pods that are alike (KEP-5598): here they never are.
//
// # What is the simulator's own
//
// The predecessor's plugins (its scores, FGD among them, and Open-Gpu-Share) are adapters of the native policies,
// so that they mix with any other plugin. Open-Gpu-Share is part of every profile, asked for or not: it knows the
// devices, and it keeps the framework from choosing what the engine's books do not have. A pod without a CPU request
// counts as 100m, as in the predecessor and on the native engine. Pods that name their node are not asked about: they
// run there already. A volume whose claim the input does not have is ignored.
//
// [DryRun] answers where a pod would go that does not exist yet, and why, on a snapshot of a live cluster.
//
// CacheAware and DiskIO look at the experiment's world in the place of custom resources.
//
// Before the first configuration is read, the caller installs the arguments of our plugins (apis/config/scheme).
//
// The package imports no other part of a cluster: no agent, no controller, no command.
package framework
