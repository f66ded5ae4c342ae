package feature

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Name and Version identify the schema. Version rises with every change of names, order, meaning or scaling.
const (
	Name    = "vicinity.dev/features"
	Version = 1
)

// The features, in the order of the vector.
const (
	podCPU = iota
	podMemory
	podGPUs
	podGPUShare
	podFrequency
	nodeCPUFree
	nodeMemoryFree
	nodeGPUIdle
	nodeUsed
	nodeCPUPerGPU
	nodeGPUs
	afterCPUFree
	afterMemoryFree
	afterGPUIdle
	afterGPUPartial
	afterGPUWhole
	afterDeviceRest
	deviceFilled
	deviceOpened
	fragmentScore
	fragmentDrop
	shortageDrop
	surplusDrop
	ratioDistance
	afterCPUPerGPU
	dataCached
	dataMissing
	diskFree
	diskPressure
	delayMargin
	delayPeers
	peerDistance

	// Count is the number of features.
	Count
)

// Inputs is the length of a vector: values and availability bits.
const Inputs = 2 * Count

// Feature describes one number of the vector.
type Feature struct {
	// Name is stable and unique: "<group>.<what>".
	Name string
	// Means says what the value is and how it is scaled.
	Means string
}

// Schema lists the features in the order of the vector. The availability bit of feature i is number Count + i.
func Schema() []Feature {
	return []Feature{
		podCPU:          {"pod.cpu", "log2(1 + cores requested) / 7"},
		podMemory:       {"pod.memory", "log2(1 + GiB requested) / 10"},
		podGPUs:         {"pod.gpus", "GPUs requested / 8"},
		podGPUShare:     {"pod.gpuShare", "part of each GPU requested, 0..1"},
		podFrequency:    {"pod.frequency", "share of pods that ask for the same, 0..1; known when pods were counted"},
		nodeCPUFree:     {"node.cpuFree", "free CPU before / capacity"},
		nodeMemoryFree:  {"node.memoryFree", "free memory before / capacity"},
		nodeGPUIdle:     {"node.gpuIdle", "idle GPU capacity before / capacity"},
		nodeUsed:        {"node.used", "1 when pods run there, 0 for an empty node"},
		nodeCPUPerGPU:   {"node.cpuPerGPU", "log2(cores / GPUs) / 7 of the capacity"},
		nodeGPUs:        {"node.gpus", "GPUs / 8"},
		afterCPUFree:    {"after.cpuFree", "free CPU after / capacity"},
		afterMemoryFree: {"after.memoryFree", "free memory after / capacity"},
		afterGPUIdle:    {"after.gpuIdle", "idle GPU capacity after / capacity"},
		afterGPUPartial: {"after.gpuPartial", "idle capacity of GPUs that are in use, in GPUs"},
		afterGPUWhole:   {"after.gpuWhole", "GPUs that nobody uses / 8"},
		afterDeviceRest: {"after.deviceRest", "what the chosen device has left, 0..1; 0 when no part of one is asked for"},
		deviceFilled:    {"device.filled", "1 when the pod takes the device's last part"},
		deviceOpened:    {"device.opened", "1 when nobody used the device"},
		fragmentScore:   {"fragment.score", "FGD's score / 100: floor(100 / (1 + exp(-drop))) / 100"},
		fragmentDrop:    {"fragment.drop", "how far the expected fragment falls, in GPUs; at least -8, at most 8"},
		shortageDrop:    {"cpu.shortageDrop", "how far the CPU missing for idle GPUs at 8 cores each falls, in GPUs; -8..8"},
		surplusDrop:     {"cpu.surplusDrop", "how far the CPU beyond 14 cores for each idle GPU falls, in GPUs; -8..8"},
		ratioDistance:   {"cpu.ratioDistance", "|ln((pod's cores per GPU + 1) / (node's free cores per idle GPU + 1))| / 3"},
		afterCPUPerGPU:  {"after.cpuPerGPU", "ln(1 + free cores / (idle GPUs + 0.1)) / 5"},
		dataCached:      {"data.cached", "share of the pod's dataset bytes that need not be fetched from afar, 0..1"},
		dataMissing:     {"data.missing", "log2(1 + GiB to fetch) / 10"},
		diskFree:        {"disk.free", "share of the disk's bandwidth free after, 0..1, the scarcer direction"},
		diskPressure:    {"disk.pressure", "share of time that some task waited for the disk, 0..1"},
		delayMargin:     {"delay.margin", "(bound - round-trip time) / bound of the tightest bound, -1..1"},
		delayPeers:      {"delay.peers", "log2(1 + ms of round-trip time to the pod's peers) / 10, the farthest"},
		peerDistance:    {"topology.peers", "0 on the node of the pod's peers, 1/3 in their rack, 2/3 in their zone, 1 beyond"},
	}
}

// SchemaName is name and version in one, as model files carry it.
func SchemaName() string { return fmt.Sprintf("%s/v%d", Name, Version) }

// Hash is a fingerprint of the schema, in hexadecimal: of its name, version, and each feature's name and meaning.
func Hash() string {
	var text strings.Builder
	fmt.Fprintln(&text, SchemaName())
	for _, f := range Schema() {
		fmt.Fprintf(&text, "%s\t%s\n", f.Name, f.Means)
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:])
}
