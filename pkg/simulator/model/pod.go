package model

import "time"

// Pod is one unit of work.
type Pod struct {
	// Namespace and Name together are unique in a workload.
	Namespace, Name string
	// CPUMilli is the requested CPU in thousandths of a core. Readers apply whatever default their format has.
	CPUMilli int64
	// MemoryBytes is the requested memory.
	MemoryBytes int64
	// GPUs is the number of devices asked for; 0 for a pod that needs none.
	GPUs int
	// GPUMilli is what the pod takes of each of its devices, 1 to 1000. A share below 1000 goes with GPUs = 1 only;
	// without GPUs it is 0.
	GPUMilli int
	// GPUModels are the card models that the pod accepts; empty means any.
	GPUModels []string
	// GPUIndexes are the devices the pod must get, when a snapshot says so. Nil leaves the choice to the policy.
	GPUIndexes []int
	// Node is the name of the only node the pod may run on, as for pods of a DaemonSet or of a snapshot. Empty: any.
	Node string
	// NodeSelector lists labels that a node must have. May be nil.
	NodeSelector map[string]string
	// Arrival is when the pod asks for a node.
	Arrival time.Duration
	// Departure is when the pod ends in the trace; 0 means that it stays. Engine options decide whether a pod that had
	// to wait leaves at this time nevertheless or runs for Departure - Arrival.
	Departure time.Duration
	// Datasets are the names of what the pod reads.
	Datasets []string
	// DiskBytesPerSecond is what the pod reads and writes while it runs at full speed.
	DiskBytesPerSecond int64
	// Peers are the keys of the pods it talks to.
	Peers []string
	// Labels are for reports, such as the user or the QoS class. May be nil.
	Labels map[string]string
	// Source is the object that a reader made the pod from (a *corev1.Pod), for engines that need all of it. Clones
	// made by tuning share it. Native policies never look at it. May be nil.
	Source any
}

// Key is the pod's "namespace/name".
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

// TotalGPUMilli is what the pod takes of all of its devices together.
func (p *Pod) TotalGPUMilli() int64 { return int64(p.GPUs) * int64(p.GPUMilli) }

// Timed says whether the trace knows when the pod arrives or leaves.
func (p *Pod) Timed() bool { return p.Arrival != 0 || p.Departure != 0 }
