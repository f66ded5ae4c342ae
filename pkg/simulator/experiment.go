package simulator

import (
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// Experiment is everything that a run depends on. The same experiment gives the same result.
type Experiment struct {
	// Trace names the workload in results.
	Trace string
	// Cluster is what the pods run on.
	Cluster model.Cluster
	// Pods are the workload, in the order of the input.
	Pods []model.Pod
	// Daemons are pods bound to one node each; they are placed before all others and are no part of the workload that
	// tuning draws from.
	Daemons []model.Pod
	// Apps are placed one after the other, after everything else.
	Apps []App
	// Workload says how the pods are ordered and how many of them there are.
	Workload Workload
	// Typical says which pods count as typical when fragmentation is measured.
	Typical Typical
	// NewWorkload are the pods that replace Pods as the basis of typical pods after the first stage. Nil: none.
	NewWorkload []model.Pod
	// Inflation and Deschedule are stages after the first; zero values leave them out.
	Inflation  Inflation
	Deschedule Deschedule
	// Queue says what happens to pods that find no node, and when pods leave.
	Queue Queue
	// World is what pods meet beside CPU, memory and GPUs. Failures need a queue with Retry to be survived, and data and
	// disks change how long pods run with RunFullLength only.
	World model.World
	// Policy decides when Options.NewScheduler is nil, and names the run.
	Policy policy.Config
}

// App is a workload that is deployed as a whole.
type App struct {
	Name string
	Pods []model.Pod
}

// Workload orders and sizes the pods as the predecessor does.
type Workload struct {
	// Seed is the one seed of the run.
	Seed int64
	// Shuffle puts the pods into a random order; otherwise they come in order of arrival, then name.
	Shuffle bool
	// TuningRatio is the GPU demand of all pods in parts of the cluster's capacity: pods are removed or cloned until it
	// is reached. 0 leaves the pods as they are.
	TuningRatio float64
	// KeepNodeOrder leaves out the random permutation of the nodes.
	KeepNodeOrder bool
}

// Typical chooses the typical pods.
type Typical struct {
	// IncludeCPUPods counts pods without GPUs, too.
	IncludeCPUPods bool
	// PopularityThreshold is the percentage of pods that the typical ones must make up; 0 means 60.
	PopularityThreshold int
	// IncreaseStep is the number of classes taken at a time; 0 means 10.
	IncreaseStep int
	// GPUWeight makes a pod with whole GPUs count 1 + GPUs x GPUWeight times.
	GPUWeight float64
}

// Inflation adds pods that ask for what is left, looks at the result and takes them away again.
type Inflation struct {
	// Ratio is the number of pods after the inflation in parts of those before; 1 or less means none.
	Ratio float64
}

// Deschedule evicts pods and places them anew.
type Deschedule struct {
	// Policy is cosSim, fragOnePod or fragMultiPod; empty means none.
	Policy string
	// Ratio is the largest part of the pods that may be evicted.
	Ratio float64
}

// Queue is how pods wait.
type Queue struct {
	// Retry puts a pod that found no node into a queue and tries it again when pods have left, after a back-off.
	// Without it such a pod is dropped, as the predecessor does.
	Retry bool
	// InitialBackoff and MaxBackoff bound the pause between two attempts, which doubles; 0 means 1 s and 10 s, as in
	// kube-scheduler.
	InitialBackoff, MaxBackoff time.Duration
	// RunFullLength lets a pod run for Departure - Arrival from when it was placed, however long it waited. Without it
	// a pod leaves at its Departure.
	RunFullLength bool
}
