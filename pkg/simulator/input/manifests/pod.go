package manifests

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// defaultCPUMilli is what a pod counts for that requests no CPU, as in the predecessor.
const defaultCPUMilli = 100

// Pod is a pod of the input, whoever makes it.
type Pod struct {
	Value *corev1.Pod
	from  *Document
	// template is the path of the pod's template in its workload; empty for pods that stand for themselves.
	template []string
	// daemon says that a DaemonSet made the pod for one node.
	daemon bool
}

func (p *Pod) at(path ...string) faults.Position {
	return p.from.At(slices.Concat(p.template, path)...)
}

func (p *Pod) annotation(key string) faults.Position {
	return p.at(metadataField, annotationsField, key)
}

// converter turns pods into the model's, whose times count from the first one of the trace.
type converter struct {
	list  *faults.List
	start time.Time
}

// ModelPods converts pods. Those that run on a node already, or belong to a DaemonSet, are bound: they are placed before
// all others. Pods that have ended, or that an earlier simulation marked as not scheduled, are left out.
func ModelPods(pods []Pod, list *faults.List) (workload, bound []model.Pod) {
	c := converter{list: list, start: traceStart(pods)}
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Value.Annotations[unscheduledKey] == "true",
			p.Value.Status.Phase == corev1.PodSucceeded, p.Value.Status.Phase == corev1.PodFailed:
		case p.daemon || p.Value.Spec.NodeName != "":
			bound = append(bound, c.convert(p))
		default:
			workload = append(workload, c.convert(p))
		}
	}
	return workload, bound
}

func (c *converter) convert(p *Pod) model.Pod {
	defaultRequests(&p.Value.Spec)
	c.checkRequests(p)
	requests := resourcehelper.PodRequests(p.Value, resourcehelper.PodResourcesOptions{})
	out := model.Pod{
		Namespace:    p.Value.Namespace,
		Name:         p.Value.Name,
		CPUMilli:     requests.Cpu().MilliValue(),
		MemoryBytes:  requests.Memory().Value(),
		Node:         p.Value.Spec.NodeName,
		NodeSelector: p.Value.Spec.NodeSelector,
		Labels:       p.Value.Labels,
		Source:       p.Value,
	}
	if out.CPUMilli == 0 {
		out.CPUMilli = defaultCPUMilli
	}
	c.gpus(p, requests, &out)
	out.Arrival = c.since(p, creationTimeKey)
	out.Departure = c.since(p, deletionTimeKey)
	if out.Departure != 0 && out.Departure < out.Arrival {
		c.list.Add(p.annotation(deletionTimeKey), "want a time after %s, found %s",
			p.Value.Annotations[creationTimeKey], p.Value.Annotations[deletionTimeKey])
	}
	return out
}

// defaultRequests does what the API server does with limits that have no request.
func defaultRequests(spec *corev1.PodSpec) {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if len(containers[i].Resources.Limits) == 0 {
				continue
			}
			requests := maps.Clone(containers[i].Resources.Limits)
			maps.Copy(requests, containers[i].Resources.Requests)
			containers[i].Resources.Requests = requests
		}
	}
}

func (c *converter) checkRequests(p *Pod) {
	check := func(field string, containers []corev1.Container) {
		for i := range containers {
			q := quantities{list: c.list, from: p.from, values: containers[i].Resources.Requests}
			q.path = slices.Concat(p.template, []string{specField, field, strconv.Itoa(i), resourcesField, requestsField})
			for _, name := range slices.Sorted(maps.Keys(q.values)) {
				if name == corev1.ResourceCPU {
					q.milli(name)
				} else {
					q.whole(name, mostBytes)
				}
			}
		}
	}
	check(initContainerName, p.Value.Spec.InitContainers)
	check(containersField, p.Value.Spec.Containers)
	overhead := quantities{list: c.list, from: p.from, values: p.Value.Spec.Overhead}
	overhead.path = slices.Concat(p.template, []string{specField, "overhead"})
	overhead.milli(corev1.ResourceCPU)
	overhead.whole(corev1.ResourceMemory, mostBytes)
}

// gpus reads the request for GPUs: the predecessor's annotations, else the extended resource. A number of GPUs without a
// share means whole ones, a share without a number one GPU.
func (c *converter) gpus(p *Pod, requests corev1.ResourceList, out *model.Pod) {
	notes := p.Value.Annotations
	count, hasCount := c.number(p, gpuCountKey, 0, mostDevices)
	milli, hasMilli := c.number(p, gpuMilliKey, 0, model.GPUMilli)
	switch {
	case !hasCount && !hasMilli:
		whole := requests[nvidiaResource]
		count, milli = int(min(whole.Value(), mostDevices)), model.GPUMilli
	case !hasCount:
		count = min(milli, 1)
	case !hasMilli:
		milli = model.GPUMilli
	}
	if count <= 0 {
		return
	}
	switch {
	case milli == 0:
		c.list.Add(p.annotation(gpuMilliKey), "want 1 to 1000 per GPU, found 0 with %d GPUs", count)
	case count > 1 && milli < model.GPUMilli:
		c.list.Add(p.annotation(gpuMilliKey), "want 1000 with %d GPUs, since a part of a GPU is taken of one only; found %d", count, milli)
	}
	out.GPUs, out.GPUMilli = count, milli
	if models := notes[gpuModelKey]; models != "" {
		out.GPUModels = strings.Split(models, "|")
	}
	c.devices(p, out)
}

// number reads a whole number from an annotation; one out of range is a fault, and then counts as absent.
func (c *converter) number(p *Pod, key string, least, most int) (value int, found bool) {
	text, found := p.Value.Annotations[key]
	if !found {
		return 0, false
	}
	value, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || value < least || value > most {
		c.list.Add(p.annotation(key), "want a whole number from %d to %d, found %q", least, most, text)
		return 0, false
	}
	return value, true
}

// devices reads which devices a snapshot says the pod has: "2" or "0-1-3".
func (c *converter) devices(p *Pod, out *model.Pod) {
	text, found := p.Value.Annotations[gpuIndexKey]
	if !found || text == "" {
		return
	}
	for part := range strings.SplitSeq(text, "-") {
		index, err := strconv.Atoi(part)
		if err != nil || index < 0 || index >= mostDevices || slices.Contains(out.GPUIndexes, index) {
			c.list.Add(p.annotation(gpuIndexKey), "want different device numbers joined by -, such as 0-1-3; found %q", text)
			return
		}
		out.GPUIndexes = append(out.GPUIndexes, index)
	}
	slices.Sort(out.GPUIndexes)
	if len(out.GPUIndexes) != out.GPUs {
		c.list.Add(p.annotation(gpuIndexKey), "want %d devices as %s says, found %q", out.GPUs, gpuCountKey, text)
	}
}

// since is the time of an annotation, counted from the start of the trace.
func (c *converter) since(p *Pod, key string) time.Duration {
	text, found := p.Value.Annotations[key]
	if !found || text == "" {
		return 0
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		c.list.Add(p.annotation(key), "want a time such as 2006-01-02T15:04:05Z, found %q", text)
		return 0
	}
	return at.Sub(c.start)
}

// traceStart is the earliest time that any pod has, the zero time if none has one.
func traceStart(pods []Pod) time.Time {
	var start time.Time
	for i := range pods {
		for _, key := range []string{creationTimeKey, deletionTimeKey} {
			at, err := time.Parse(time.RFC3339, pods[i].Value.Annotations[key])
			if err == nil && (start.IsZero() || at.Before(start)) {
				start = at
			}
		}
	}
	return start
}
