package mlpscore

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
)

const (
	nvidiaGPU     = corev1.ResourceName("nvidia.com/gpu")
	nvidiaProduct = "nvidia.com/gpu.product"
	gpuCount      = corev1.ResourceName(vicinityv1alpha1.GPUCountResource)
	wholeGPU      = 1000
	// maxDevices bounds what a node may claim to have.
	maxDevices = 256
)

// podOf is what the network sees of a pod. Annotations that cannot be read count as no demand; the error says why.
func podOf(pod *corev1.Pod) (feature.Pod, error) {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	share, err := demandOf(pod, requests)
	p := feature.Pod{MemoryBytes: requests.Memory().Value()}
	p.CPUMilli = requests.Cpu().MilliValue()
	p.GPUs, p.GPUMilli, p.Models = share.Count, share.Milli, share.Models
	return p, err
}

// demandOf reads the annotations, else the extended resource.
func demandOf(pod *corev1.Pod, requests corev1.ResourceList) (vicinityv1alpha1.GPUShare, error) {
	share, err := vicinityv1alpha1.ParseGPUShare(pod.Annotations)
	if err != nil || share.Count > 0 {
		return share, err
	}
	if whole, ok := requests[nvidiaGPU]; ok {
		share.Count, share.Milli = int(min(max(whole.Value(), 0), maxDevices)), wholeGPU
	}
	return share, nil
}

// maxViews bounds the nodes that are kept. Beyond it all are forgotten: most of them are of nodes that are gone.
const maxViews = 1 << 16

// nodeReader fills feature.Node from NodeInfo, and keeps it until the node changes: reading the annotations of all its
// pods takes longer than evaluating the network. A goroutine needs its own.
type nodeReader struct {
	views map[string]*view
	node  feature.Node
	idle  []int
	model func(card string) int
	// fragment is what typical pods cannot use of the node's idle GPUs.
	fragment func(free gpushare.Free) float64
}

// view is what the network sees of a node at a generation.
type view struct {
	generation int64
	node       feature.Node
}

// read returns what the network sees of the node. Nobody may change it.
func (r *nodeReader) read(info fwk.NodeInfo) *feature.Node {
	name, generation := info.Node().Name, info.GetGeneration()
	v := r.views[name]
	if v != nil && v.generation == generation {
		return &v.node
	}
	if v == nil {
		if len(r.views) >= maxViews {
			clear(r.views)
		}
		v = &view{}
		r.views[name] = v
	}
	idle := v.node.Free.Idle
	v.generation, v.node = generation, *r.fill(info)
	v.node.Free.Idle = append(idle[:0], r.idle...)
	v.node.Fragment = feature.Optional{Value: r.fragment(v.node.Free), Known: true}
	return &v.node
}

func (r *nodeReader) fill(info fwk.NodeInfo) *feature.Node {
	node := info.Node()
	allocatable, requested := info.GetAllocatable(), info.GetRequested()
	r.node = feature.Node{
		CPUMilli: allocatable.GetMilliCPU(), MemoryBytes: allocatable.GetMemory(),
		MemoryFreeBytes: allocatable.GetMemory() - requested.GetMemory(), Used: len(info.GetPods()) > 0,
	}
	r.node.Free.CPUMilli = allocatable.GetMilliCPU() - requested.GetMilliCPU()
	r.devices(info)
	r.node.Free.Idle = r.idle
	if card := node.Labels[vicinityv1alpha1.GPUModelAnnotation]; card != "" {
		r.node.Free.Model = r.model(card)
	} else {
		r.node.Free.Model = r.model(node.Labels[nvidiaProduct])
	}
	return &r.node
}

// devices fills idle with what each of the node's devices has left.
func (r *nodeReader) devices(info fwk.NodeInfo) {
	resources := info.GetAllocatable().GetScalarResources()
	count := resources[gpuCount]
	if count == 0 {
		count = resources[nvidiaGPU]
	}
	r.idle = r.idle[:0]
	for range min(max(count, 0), maxDevices) {
		r.idle = append(r.idle, wholeGPU)
	}
	if len(r.idle) == 0 {
		return
	}
	// Devices that are known to be taken come first, so that the others can be guessed among what remains.
	for _, withIndexes := range []bool{true, false} {
		for _, pod := range info.GetPods() {
			share, err := demandOf(pod.GetPod(), nil)
			if err == nil && share.Count > 0 && (share.Indexes != nil) == withIndexes {
				r.take(&share)
			}
		}
	}
	// Pods that ask for the extended resource: the framework has their sum, and the device plugin gives whole ones.
	whole := gpushare.Class{GPUs: int(min(info.GetRequested().GetScalarResources()[nvidiaGPU], maxDevices)), GPUMilli: wholeGPU}
	gpushare.Take(&whole, r.idle)
}

func (r *nodeReader) take(share *vicinityv1alpha1.GPUShare) {
	if share.Indexes == nil {
		gpushare.Take(&gpushare.Class{GPUs: share.Count, GPUMilli: share.Milli}, r.idle)
		return
	}
	for _, index := range share.Indexes {
		if index < len(r.idle) {
			r.idle[index] = max(0, r.idle[index]-share.Milli)
		}
	}
}
