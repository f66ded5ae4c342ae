package gpushare

// Class is a shape of pods: all that a node's GPUs and CPU have to offer them.
type Class struct {
	// CPUMilli is the requested CPU in thousandths of a core.
	CPUMilli int64
	// GPUs is the number of devices, 0 for pods without.
	GPUs int
	// GPUMilli is the part of each device, 1..1000; 0 without GPUs.
	GPUMilli int
	// Models are the accepted card models joined by "|", as users write them; empty means any.
	Models string
}

// TypicalPod is a class of pods and the share of all pods that is like it.
type TypicalPod struct {
	Class
	// Frequency is in 0..1; those of a distribution sum up to 1.
	Frequency float64
}
