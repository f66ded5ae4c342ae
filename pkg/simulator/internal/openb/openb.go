package openb

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Folder is where data called name lies; the test is skipped when there is none.
func Folder(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test's folder")
		}
	}
	found := filepath.Join(dir, "..", "shared", "data", name)
	if _, err := os.Stat(found); err != nil {
		tb.Skipf("this test needs data that is no part of the project: %v", err)
	}
	return found
}

// Rows are the lines of a CSV file by column name.
func Rows(tb testing.TB, path string) []map[string]string {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Skipf("this test needs data that is no part of the project: %v", err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) == 0 {
		tb.Fatalf("reading %s: %v", path, err)
	}
	rows := make([]map[string]string, 0, len(lines))
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

const mebibyte = 1 << 20

// Cluster are the nodes with GPUs.
func Cluster(tb testing.TB) model.Cluster {
	tb.Helper()
	var cluster model.Cluster
	for _, row := range Rows(tb, filepath.Join(Folder(tb, "openb"), "openb_node_list_gpu_node.csv")) {
		cluster.Nodes = append(cluster.Nodes, model.Node{
			Name: row["sn"], CPUMilli: number(tb, row, "cpu_milli"), MemoryBytes: number(tb, row, "memory_mib") * mebibyte,
			MaxPods: 1001, GPUs: int(number(tb, row, "gpu")), GPUModel: row["model"],
		})
	}
	return cluster
}

// Pods are those of one trace, such as "default", without their times, as in the published experiments.
func Pods(tb testing.TB, trace string) []model.Pod {
	tb.Helper()
	var pods []model.Pod
	for _, row := range Rows(tb, filepath.Join(Folder(tb, "openb"), fmt.Sprintf("openb_pod_list_%s.csv", trace))) {
		pod := model.Pod{
			Namespace: "paib-gpu", Name: row["name"], CPUMilli: number(tb, row, "cpu_milli"),
			MemoryBytes: number(tb, row, "memory_mib") * mebibyte, GPUs: int(number(tb, row, "num_gpu")),
		}
		if pod.GPUs > 0 {
			pod.GPUMilli = int(min(number(tb, row, "gpu_milli"), model.GPUMilli))
		}
		if spec := row["gpu_spec"]; spec != "" && pod.GPUs > 0 {
			pod.GPUModels = strings.Split(spec, "|")
		}
		pods = append(pods, pod)
	}
	return pods
}

func number(tb testing.TB, row map[string]string, column string) int64 {
	tb.Helper()
	value, err := strconv.ParseInt(row[column], 10, 64)
	if err != nil {
		tb.Fatalf("column %s: %v", column, err)
	}
	return value
}
