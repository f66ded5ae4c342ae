package state

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The sizes of DiskIO's budgets.
const (
	benchNodes       = 5000
	benchDisks       = 8
	benchPods        = 10
	reportsPerMinute = 20000
)

// BenchmarkDiskReports: one agent's report on 8 disks changes. Budget: 20,000 a minute for less than 5 % of one core, which
// are 150 us of CPU each. "applied" is the state's own part; "received" contains what the informer does before it, the
// decoding of the watch's JSON.
func BenchmarkDiskReports(b *testing.B) {
	b.Run("applied", func(b *testing.B) {
		d := describedDisks(b)
		updates := [2]*unstructured.Unstructured{decodeReport(b, diskReport(b, 17, 1)), decodeReport(b, diskReport(b, 17, 2))}
		benchmarkReports(b, d, func(i int) { set(d, statsResource, d.stats, updates[i%2]) })
	})
	b.Run("received", func(b *testing.B) {
		d := describedDisks(b)
		updates := [2][]byte{diskReport(b, 17, 1), diskReport(b, 17, 2)}
		benchmarkReports(b, d, func(i int) { set(d, statsResource, d.stats, decodeReport(b, updates[i%2])) })
	})
}

// benchmarkReports tells the CPU time of the whole process, garbage collection included: other programs on the machine
// then do not count.
func benchmarkReports(b *testing.B, d *disks, apply func(i int)) {
	b.Helper()
	b.ReportAllocs()
	begin, reports := processTime(b), 0
	for b.Loop() {
		apply(reports)
		reports++
	}
	each := (processTime(b) - begin) / time.Duration(reports)
	b.ReportMetric(float64(each.Nanoseconds()), "cpu-ns/op")
	b.ReportMetric(100*each.Seconds()*reportsPerMinute/60, "%core@20000/min")
	if disk := d.nodes["node-17"].Disks[0]; !disk.HasMeasured || disk.Measured.Bandwidth.Read >= disk.Capacity.Bandwidth.Read {
		b.Fatalf("the report was not applied: %+v", disk)
	}
}

func processTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// describedDisks is what is known once every node has reported.
func describedDisks(b *testing.B) *disks {
	b.Helper()
	d := newDisks(newMalformed())
	for node := range benchNodes {
		devices := map[string]any{}
		for disk := range benchDisks {
			devices[fmt.Sprint("disk-", disk)] = map[string]any{
				"name": fmt.Sprint("sd", disk), "vendor": "Intel", "model": "P4510", "type": "others",
				"capacity": map[string]any{"read": "1000Mi", "write": "1000Mi", "total": "2000Mi"},
			}
		}
		set(d, devicesResource, d.devices, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "diskio.x-k8s.io/v1alpha1", "kind": "NodeDiskDevice",
			"metadata": map[string]any{"namespace": "vicinity-system", "name": fmt.Sprintf("node-%d-nodediskdevice", node)},
			"spec":     map[string]any{"nodeName": fmt.Sprint("node-", node), "devices": devices},
		}})
		set(d, statsResource, d.stats, decodeReport(b, diskReport(b, node, 1)))
	}
	return d
}

// diskReport is what vicinity-agent writes, as the API server sends it.
func diskReport(b *testing.B, node, use int) []byte {
	b.Helper()
	free, pressure, measured := map[string]any{}, map[string]any{}, map[string]any{}
	owned := map[string]any{}
	for disk := range benchDisks {
		id := fmt.Sprint("disk-", disk)
		free[id] = map[string]any{
			"read": fmt.Sprint(1000<<20 - 104857*use*disk - 1), "write": fmt.Sprint(1000<<20 - 52428*use), "total": fmt.Sprint(2000<<20 - 157285*use),
		}
		pressure[id] = 1000 * use
		measured[id] = map[string]any{
			"readBytesPerSecond": 104857 * use * disk, "writeBytesPerSecond": 52428 * use, "readIOPS": 200, "writeIOPS": 100,
			"readLatencyMicroseconds": 250, "writeLatencyMicroseconds": 400, "busyPartsPerMillion": 90000,
		}
		owned["f:"+id] = map[string]any{".": map[string]any{}, "f:read": map[string]any{}, "f:write": map[string]any{}, "f:total": map[string]any{}}
	}
	var pods []any
	for pod := range benchPods {
		pods = append(pods, fmt.Sprintf("0b1c2d3e-4f50-4617-8829-%012d", node*benchPods+pod))
	}
	content, err := json.Marshal(map[string]any{
		"apiVersion": "diskio.x-k8s.io/v1alpha1", "kind": "NodeDiskIOStats",
		"metadata": map[string]any{
			"namespace": "vicinity-system", "name": fmt.Sprintf("node-%d-nodediskiostats", node), "generation": 7,
			"managedFields": []any{map[string]any{
				"manager": "vicinity-agent", "operation": "Apply", "subresource": "status",
				"fieldsV1": map[string]any{"f:status": map[string]any{"f:allocableBandwidth": owned}},
			}},
		},
		"spec": map[string]any{"nodeName": fmt.Sprint("node-", node), "reservedPods": pods},
		"status": map[string]any{
			"observedGeneration": 7, "observedAt": "2026-01-01T00:00:00Z", "allocableBandwidth": free,
			"pressurePartsPerMillion": pressure, "measured": measured, "observedPods": pods,
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return content
}

// decodeReport does what the informer does with an object of a watch.
func decodeReport(b *testing.B, content []byte) *unstructured.Unstructured {
	b.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(content); err != nil {
		b.Fatal(err)
	}
	kept, err := dropUnread(true)(u)
	if err != nil {
		b.Fatal(err)
	}
	return kept.(*unstructured.Unstructured)
}
