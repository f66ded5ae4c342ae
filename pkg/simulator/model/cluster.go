package model

// Cluster is what pods are placed on.
type Cluster struct {
	// Nodes in the order of the input. Names are unique.
	Nodes []Node
}

// Node is one machine with all it can give to pods.
type Node struct {
	// Name as in the input.
	Name string
	// CPUMilli is the allocatable CPU in thousandths of a core.
	CPUMilli int64
	// MemoryBytes is the allocatable memory.
	MemoryBytes int64
	// MaxPods limits the number of pods on the node; 0 means no limit.
	MaxPods int
	// GPUs is the number of devices. All devices of a node are of one model, and each can give 1,000 milli.
	GPUs int
	// GPUModel is the card's name, such as "T4"; it may be empty, which only pods without a wish for a model accept.
	GPUModel string
	// DiskBytesPerSecond is what the node's disk can do, reading and writing together; 0 means no limit.
	DiskBytesPerSecond int64
	// Labels are matched by Pod.NodeSelector and group the nodes of a report (rack, zone). May be nil.
	Labels map[string]string
	// Source is the object that a reader made the node from (a *corev1.Node), for engines that need all of it. Native
	// policies never look at it. May be nil.
	Source any
}

// GPUMilli is what one whole device can give.
const GPUMilli = 1000

// TotalGPUs is the number of devices in the cluster.
func (c *Cluster) TotalGPUs() int {
	total := 0
	for i := range c.Nodes {
		total += c.Nodes[i].GPUs
	}
	return total
}

// Totals are the CPU in thousandths of a core, the memory in bytes, and the GPUs in thousandths of a device that all
// nodes have.
func (c *Cluster) Totals() (cpuMilli, memoryBytes, gpuMilli int64) {
	for i := range c.Nodes {
		cpuMilli += c.Nodes[i].CPUMilli
		memoryBytes += c.Nodes[i].MemoryBytes
	}
	return cpuMilli, memoryBytes, int64(c.TotalGPUs()) * GPUMilli
}
