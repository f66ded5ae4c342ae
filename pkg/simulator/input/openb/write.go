package openb

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// WriteNodes writes a list of nodes that ReadNodes reads.
func WriteNodes(out io.Writer, nodes []model.Node) error {
	rows := [][]string{{"sn", "cpu_milli", "memory_mib", "gpu", "model"}}
	for i := range nodes {
		n := &nodes[i]
		rows = append(rows, []string{n.Name, decimal(n.CPUMilli), decimal(n.MemoryBytes / mebibyte), strconv.Itoa(n.GPUs), n.GPUModel})
	}
	return write(out, rows)
}

// WritePods writes a list of pods that ReadPods reads. Namespaces are not in the format.
func WritePods(out io.Writer, pods []model.Pod) error {
	rows := [][]string{{
		"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time",
		"scheduled_time",
	}}
	for i := range pods {
		p := &pods[i]
		departure := ""
		if p.Departure != 0 {
			departure = decimal(int64(p.Departure.Seconds()))
		}
		rows = append(rows, []string{
			p.Name, decimal(p.CPUMilli), decimal(p.MemoryBytes / mebibyte), strconv.Itoa(p.GPUs), strconv.Itoa(p.GPUMilli),
			strings.Join(p.GPUModels, "|"), p.Labels[qosLabel], p.Labels[phaseLabel], decimal(int64(p.Arrival.Seconds())), departure, "",
		})
	}
	return write(out, rows)
}

func write(out io.Writer, rows [][]string) error {
	if err := csv.NewWriter(out).WriteAll(rows); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

func decimal(value int64) string { return strconv.FormatInt(value, 10) }
