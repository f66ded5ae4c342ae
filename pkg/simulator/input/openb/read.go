package openb

import (
	"strings"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Namespace is that of the study's pods.
const Namespace = "paib-gpu"

// Bounds that keep a typo from filling the memory or overflowing a sum.
const (
	mostMilli   = 1_000_000_000
	mostMiB     = 1 << 30
	mostDevices = 256
	mostSeconds = 1 << 32
	mebibyte    = 1 << 20
)

// maxPods is the limit of the study's nodes, which is out of reach.
const maxPods = 1001

// hostnameLabel and modelLabel are the labels of the study's nodes.
const (
	hostnameLabel = "kubernetes.io/hostname"
	osLabel       = "kubernetes.io/os"
	modelLabel    = "alibabacloud.com/gpu-card-model"
)

// Labels of pods in the trace.
const (
	qosLabel   = "openb/qos"
	phaseLabel = "openb/phase"
)

// ReadNodes reads a list of nodes. Faults go to list.
func ReadNodes(file string, data []byte, list *faults.List) []model.Node {
	t := open(file, data, list, "sn", "cpu_milli", "memory_mib", "gpu")
	if t == nil {
		return nil
	}
	var nodes []model.Node
	names := unique{}
	for t.next() {
		name := t.text("sn")
		if !names.claim(t, "sn", name) {
			continue
		}
		node := model.Node{
			Name:        name,
			CPUMilli:    t.number("cpu_milli", mostMilli, true),
			MemoryBytes: t.number("memory_mib", mostMiB, true) * mebibyte,
			MaxPods:     maxPods,
			GPUs:        int(t.number("gpu", mostDevices, true)),
			GPUModel:    t.text("model"),
			Labels:      map[string]string{hostnameLabel: name, osLabel: "linux"},
		}
		if node.GPUModel != "" {
			node.Labels[modelLabel] = node.GPUModel
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// ReadPods reads a list of pods. With times, pods arrive and leave as the trace says; those that never ran leave never.
func ReadPods(file string, data []byte, times bool, list *faults.List) []model.Pod {
	t := open(file, data, list, "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
	if t == nil {
		return nil
	}
	var pods []model.Pod
	names := unique{}
	for t.next() {
		name := t.text("name")
		if !names.claim(t, "name", name) {
			continue
		}
		pod := model.Pod{
			Namespace:   Namespace,
			Name:        name,
			CPUMilli:    t.number("cpu_milli", mostMilli, true),
			MemoryBytes: t.number("memory_mib", mostMiB, true) * mebibyte,
			Labels:      map[string]string{},
		}
		gpus(t, &pod)
		if qos := t.text("qos"); qos != "" {
			pod.Labels[qosLabel] = qos
		}
		if phase := t.text("pod_phase"); phase != "" {
			pod.Labels[phaseLabel] = phase
		}
		if times {
			readTimes(t, &pod)
		}
		pods = append(pods, pod)
	}
	return pods
}

func gpus(t *table, pod *model.Pod) {
	pod.GPUs = int(t.number("num_gpu", mostDevices, true))
	milli := int(t.number("gpu_milli", model.GPUMilli, pod.GPUs > 0))
	if pod.GPUs == 0 {
		return
	}
	pod.GPUMilli = milli
	switch {
	case milli == 0:
		t.list.Add(t.at("gpu_milli"), "want 1 to 1000 per GPU, found %q with %d GPUs", t.text("gpu_milli"), pod.GPUs)
	case pod.GPUs > 1 && milli < model.GPUMilli:
		t.list.Add(t.at("gpu_milli"), "want 1000 with %d GPUs, since a part of a GPU is taken of one only; found %d", pod.GPUs, milli)
	}
	if models := t.text("gpu_spec"); models != "" {
		pod.GPUModels = strings.Split(models, "|")
	}
}

func readTimes(t *table, pod *model.Pod) {
	created := t.number("creation_time", mostSeconds, false)
	deleted := t.number("deletion_time", mostSeconds, false)
	if deleted != 0 && deleted < created {
		t.list.Add(t.at("deletion_time"), "want a time after creation_time %d, found %d", created, deleted)
		return
	}
	pod.Arrival, pod.Departure = time.Duration(created)*time.Second, time.Duration(deleted)*time.Second
}

// unique finds names that are there twice.
type unique map[string]int

func (u unique) claim(t *table, column, name string) bool {
	first, taken := u[name]
	switch {
	case name == "":
		t.list.Add(t.at(column), "want a name, found none")
	case taken:
		t.list.Add(t.at(column), "%s is there twice; the first one is in line %d", name, first)
	default:
		u[name] = t.line
		return true
	}
	return false
}
