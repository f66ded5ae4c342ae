package v1alpha1

import (
	"fmt"
	"strconv"
	"strings"
)

// Annotations of pods that take GPUs or parts of one, and the label and resource of nodes that have them. The keys are
// those of open-gpu-share and of the simulator of the fragmentation study.
const (
	// GPUCountAnnotation holds the number of devices, GPUMilliAnnotation the part of each in thousandths.
	GPUCountAnnotation = "alibabacloud.com/gpu-count"
	GPUMilliAnnotation = "alibabacloud.com/gpu-milli"
	// GPUModelAnnotation holds the card models that the pod accepts, joined by "|"; on nodes the label of the same key
	// holds the node's.
	GPUModelAnnotation = "alibabacloud.com/gpu-card-model"
	// GPUIndexAnnotation holds the devices that a placed pod has, such as "2" or "0-1-3".
	GPUIndexAnnotation = "alibabacloud.com/gpu-index"
	// GPUCountResource is the number of devices in a node's allocatable resources.
	GPUCountResource = GPUCountAnnotation
)

const (
	maxGPUs      = 256
	wholeGPU     = 1000
	maxGPUModels = 1024 // characters
)

// GPUShare is a pod's demand for GPUs.
//
// +kubebuilder:object:generate=false
type GPUShare struct {
	// Count is the number of devices; 0: the annotations ask for none.
	Count int
	// Milli is the part of each device, 1 to 1000; below 1000 with Count 1 only.
	Milli int
	// Models are the accepted card models joined by "|"; empty: any.
	Models string
	// Indexes are the devices that the pod has; nil before it has any.
	Indexes []int
}

// ParseGPUShare reads the annotations. A count without a part means whole devices, a part without a count one device.
// The error names the annotation, what was expected and what was found.
func ParseGPUShare(annotations map[string]string) (GPUShare, error) {
	var share GPUShare
	count, hasCount, err := gpuNumber(annotations, GPUCountAnnotation, maxGPUs)
	if err != nil {
		return share, err
	}
	milli, hasMilli, err := gpuNumber(annotations, GPUMilliAnnotation, wholeGPU)
	if err != nil {
		return share, err
	}
	if !hasCount && hasMilli {
		count = min(milli, 1)
	}
	if !hasMilli {
		milli = wholeGPU
	}
	switch {
	case count == 0:
		return share, nil
	case milli == 0:
		return share, fmt.Errorf("annotation %s: want 1 to %d for %d GPUs, found 0", GPUMilliAnnotation, wholeGPU, count)
	case count > 1 && milli < wholeGPU:
		return share, fmt.Errorf("annotation %s: want %d for %d GPUs, since a part is taken of one GPU only; found %d",
			GPUMilliAnnotation, wholeGPU, count, milli)
	}
	models := annotations[GPUModelAnnotation]
	if len(models) > maxGPUModels {
		return share, fmt.Errorf("annotation %s: want at most %d characters, found %d", GPUModelAnnotation, maxGPUModels, len(models))
	}
	share = GPUShare{Count: count, Milli: milli, Models: models}
	share.Indexes, err = gpuIndexes(annotations[GPUIndexAnnotation], count)
	return share, err
}

func gpuNumber(annotations map[string]string, key string, most int) (value int, found bool, err error) {
	text, found := annotations[key]
	if !found {
		return 0, false, nil
	}
	value, err = strconv.Atoi(text)
	if err != nil || value < 0 || value > most {
		return 0, true, fmt.Errorf("annotation %s: want a whole number from 0 to %d, found %q", key, most, text)
	}
	return value, true, nil
}

func gpuIndexes(text string, count int) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	// One more than there may be is enough to see that there are too many.
	parts := strings.SplitN(text, "-", count+1)
	indexes := make([]int, 0, len(parts))
	for _, part := range parts {
		index, err := strconv.Atoi(part)
		if err != nil || index < 0 || index >= maxGPUs || len(parts) != count {
			return nil, fmt.Errorf("annotation %s: want %d device numbers below %d joined by -, such as 0-1-3; found %q",
				GPUIndexAnnotation, count, maxGPUs, text)
		}
		indexes = append(indexes, index)
	}
	return indexes, nil
}
