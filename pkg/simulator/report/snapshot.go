package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

const (
	mebibyte = 1 << 20
	// mostDevices is the number of devices that the predecessor's node table has columns for.
	mostDevices = 8
	// noWish is what its pod table has for a pod that accepts any model.
	noWish = "<none>"
	// addressLabel is the node's label that its tables take the address from.
	addressLabel = "node-ip"
)

// Keys of the predecessor's snapshots.
const (
	unscheduledKey = "simon/pod-unscheduled"
	gpuIndexKey    = "alibabacloud.com/gpu-index"
	gpuCountKey    = "alibabacloud.com/gpu-count"
	gpuMilliKey    = "alibabacloud.com/gpu-milli"
	gpuModelKey    = "alibabacloud.com/gpu-card-model"
)

// cardMemoryMiB is the memory of a GPU by its model, as the predecessor knows it; 0 for others.
func cardMemoryMiB(card string) int64 {
	return map[string]int64{
		"P4": 7611, "2080": 11019, "1080": 11178, "M40": 11448, "T4": 15109, "V100M16": 16160, "P100": 16280, "A10": 22731,
		"3090": 24268, "V100M32": 32510, "A100": 81251, "G1": 1000, "G2": 20000, "G3": 30000,
	}[card]
}

// exported are the stages that the predecessor writes snapshots of.
func exported() []string { return []string{"InitSchedule", "PostDeschedule"} }

// WriteSnapshots writes the state after scheduling, and after descheduling if there was one, where the predecessor's
// configuration wants it: <prefix>/<stage>/node-snapshot.csv and pod-snapshot.csv under the first prefix,
// pod-snapshot.yaml under the second. An empty prefix writes nothing.
func WriteSnapshots(tables, manifests string, r *Run) error {
	for _, tag := range exported() {
		stage := r.stage(tag)
		if stage == nil {
			continue
		}
		for _, file := range []snapshotFile{
			{tables, "node-snapshot.csv", writeNodes}, {tables, "pod-snapshot.csv", writePods}, {manifests, "pod-snapshot.yaml", writePodYAML},
		} {
			if file.prefix == "" {
				continue
			}
			write := func(out io.Writer) error { return file.write(out, r, stage) }
			if err := writeIn(filepath.Join(file.prefix, tag), file.name, write); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshotFile is one file of a stage.
type snapshotFile struct {
	prefix, name string
	write        func(io.Writer, *Run, *model.Stage) error
}

func writeIn(folder, name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making a folder for snapshots: %w", err)
	}
	return writeFile(filepath.Join(folder, name), write)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func writeNodes(out io.Writer, r *Run, s *model.Stage) error {
	header := []string{"name", "ip", "model", "cpu", "gpu", "memory_mib", "gpu_mem_mib_each", "num_pod", "cpu_milli_left", "memory_mib_left"}
	for i := range mostDevices {
		header = append(header, fmt.Sprintf("gpu_milli_left_%d", i), fmt.Sprintf("gpu_mem_mib_left_%d", i))
	}
	rows := [][]string{append(header, "gpu_milli_left", "gpu_mem_mib_left")}
	for i := range r.Nodes {
		node, left := &r.Nodes[i], &s.NodesLeft[i]
		each := cardMemoryMiB(node.GPUModel)
		row := []string{
			node.Name, node.Labels[addressLabel], node.GPUModel, number(node.CPUMilli), strconv.Itoa(node.GPUs), number(node.MemoryBytes / mebibyte),
			number(each), strconv.Itoa(left.Pods), number(left.CPUMilli), number(left.MemoryBytes / mebibyte),
		}
		var total int64
		for device := range mostDevices {
			var milli int64
			if device < len(left.GPUMilli) {
				milli = int64(left.GPUMilli[device])
			}
			row = append(row, number(milli), number(milli*each/model.GPUMilli))
		}
		for _, milli := range left.GPUMilli {
			total += int64(milli)
		}
		rows = append(rows, append(row, number(total), number(total*each/model.GPUMilli)))
	}
	return writeAll(out, rows)
}

func writeAll(out io.Writer, rows [][]string) error {
	if err := csv.NewWriter(out).WriteAll(rows); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return nil
}

func joined(indexes []int, separator string) string {
	parts := make([]string, 0, len(indexes))
	for _, index := range indexes {
		parts = append(parts, strconv.Itoa(index))
	}
	return strings.Join(parts, separator)
}

func writePods(out io.Writer, r *Run, s *model.Stage) error {
	rows := [][]string{{
		"pod", "namespace", "ip", "cpu_milli", "memory_mib", "num_gpu", "gpu_index", "gpu_mem_ratio", "gpu_milli", "model",
		"gpu_mem_mib_each", "gpu_mem_mib", "gpu_type_req", "creation_time",
	}}
	for i := range s.Placements {
		p := &s.Placements[i]
		if !p.Scheduled() {
			continue
		}
		pod, node := &r.Pods[p.Pod], &r.Nodes[p.Binding.Node]
		each, wish, ratio := int64(0), noWish, 0.0
		if pod.GPUs > 0 {
			each, ratio = cardMemoryMiB(node.GPUModel), 100*float64(pod.GPUMilli)/model.GPUMilli
		}
		if len(pod.GPUModels) > 0 {
			wish = strings.Join(pod.GPUModels, "|")
		}
		rows = append(rows, []string{
			pod.Name, pod.Namespace, node.Labels[addressLabel], number(pod.CPUMilli), number(pod.MemoryBytes / mebibyte), strconv.Itoa(pod.GPUs),
			joined(p.Binding.GPUs, "-"), strconv.FormatFloat(ratio, 'f', -1, 64), strconv.Itoa(pod.GPUMilli), node.GPUModel,
			number(each), number(each * pod.TotalGPUMilli() / model.GPUMilli), wish, "",
		})
	}
	return writeAll(out, rows)
}

// writePodYAML writes pods that a further run places where they are: on their node by its hostname, on their devices.
// Pods without a node are marked, and a further run leaves them out.
func writePodYAML(out io.Writer, r *Run, s *model.Stage) error {
	for i := range s.Placements {
		p := &s.Placements[i]
		pod := podOf(&r.Pods[p.Pod])
		if p.Scheduled() {
			if pod.Spec.NodeSelector == nil {
				pod.Spec.NodeSelector = map[string]string{}
			}
			pod.Spec.NodeSelector[corev1.LabelHostname] = hostname(&r.Nodes[p.Binding.Node])
			if len(p.Binding.GPUs) > 0 {
				pod.Annotations[gpuIndexKey] = joined(p.Binding.GPUs, "-")
			}
		} else {
			pod.Annotations[unscheduledKey] = "true"
		}
		text, err := yaml.Marshal(pod)
		if err != nil {
			return fmt.Errorf("writing pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		// The status is empty, and not for a user to write.
		text = []byte("---\n" + strings.TrimSuffix(string(text), "status: {}\n"))
		if _, err := out.Write(text); err != nil {
			return fmt.Errorf("writing pods: %w", err)
		}
	}
	return nil
}

func hostname(node *model.Node) string {
	if name := node.Labels[corev1.LabelHostname]; name != "" {
		return name
	}
	return node.Name
}

// podOf is the pod as it was read, under the name that it has in the run, or one made from the model.
func podOf(p *model.Pod) *corev1.Pod {
	pod := &corev1.Pod{}
	if source, ok := p.Source.(*corev1.Pod); ok && source != nil {
		pod = source.DeepCopy()
	} else {
		pod.Spec = specOf(p)
	}
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.Name, pod.Namespace, pod.Status = p.Name, p.Namespace, corev1.PodStatus{}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	if p.GPUs > 0 {
		pod.Annotations[gpuCountKey], pod.Annotations[gpuMilliKey] = strconv.Itoa(p.GPUs), strconv.Itoa(p.GPUMilli)
	}
	if len(p.GPUModels) > 0 {
		pod.Annotations[gpuModelKey] = strings.Join(p.GPUModels, "|")
	}
	return pod
}
