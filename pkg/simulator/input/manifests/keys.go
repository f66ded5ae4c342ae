package manifests

import vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"

// Keys of the predecessor's labels and annotations.
const (
	gpuCountKey       = vicinityv1alpha1.GPUCountAnnotation
	gpuMilliKey       = vicinityv1alpha1.GPUMilliAnnotation
	gpuModelKey       = vicinityv1alpha1.GPUModelAnnotation
	gpuIndexKey       = vicinityv1alpha1.GPUIndexAnnotation
	creationTimeKey   = "alibabacloud.com/creation-time"
	deletionTimeKey   = "alibabacloud.com/deletion-time"
	unscheduledKey    = "simon/pod-unscheduled"
	workloadKindKey   = "simon/workload-kind"
	workloadNameKey   = "simon/workload-name"
	workloadSpaceKey  = "simon/workload-namespace"
	nvidiaResource    = "nvidia.com/gpu"
	nvidiaProductKey  = "nvidia.com/gpu.product"
	metadataField     = "metadata"
	annotationsField  = "annotations"
	specField         = "spec"
	templateField     = "template"
	statusField       = "status"
	capacityField     = "capacity"
	allocatableField  = "allocatable"
	containersField   = "containers"
	resourcesField    = "resources"
	requestsField     = "requests"
	initContainerName = "initContainers"
)

// Bounds that keep a typo from filling the memory or overflowing a sum.
const (
	// mostDevices is the largest number of GPUs of a node or pod; the largest machines have 16.
	mostDevices = 256
	// mostCores and mostBytes bound one request; ten thousand of them still fit into 64 bits.
	mostCores = 1_000_000
	mostBytes = 1 << 50
	// mostReplicas bounds the pods of one workload.
	mostReplicas = 1_000_000
)
