package gpushare

// wholeGPU is what one device can give, in milli.
const wholeGPU = 1000

// Class is a shape of pods: all that they want of a node's CPU and GPUs. It is comparable.
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

// Shared says whether the pods take a part of one device only.
func (c *Class) Shared() bool { return c.GPUs == 1 && c.GPUMilli < wholeGPU }

// TypicalPod is a class of pods and the share of all pods that is like it.
type TypicalPod struct {
	Class
	// Frequency is in 0..1; those of a distribution sum up to 1.
	Frequency float64
}
