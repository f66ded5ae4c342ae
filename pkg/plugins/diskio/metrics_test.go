package diskio

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

func TestMetrics(t *testing.T) {
	_, ctx := ktesting.NewTestContext(t)
	full := oneDisk(supply(1000, 1000, 2000))
	models := modelTable{{Vendor: "Broken", Model: "Model"}: brokenModel{}}
	operations := oneDisk(supply(1000, 1000, 2000))
	operations.Disks[0].Capacity.IOPS, operations.Disks[0].Capacity.HasIOPS = blockio.IOPS{Read: 1, Write: 10}, true
	c := newCluster(ctx, t, configv1.DiskIOArgs{}, models, map[string]*blockio.Node{
		"fresh":      measured(full, supply(1000, 1000, 2000), time.Minute),
		"stale":      measured(full, supply(1000, 1000, 2000), time.Hour),
		"unmeasured": full,
		"no-default": {Disks: full.Disks, Default: -1},
		"operations": operations,
		"broken":     {Disks: []blockio.Disk{{ID: "vda", Kind: blockio.Kind{Vendor: "Broken", Model: "Model"}}}},
	})
	for _, attempt := range []struct{ annotation, node string }{
		{`{"rbps":"2Gi"}`, "fresh"},
		{`{"wbps":"2Gi"}`, "fresh"},
		{`{"wbps":"2Gi"}`, "stale"},
		{`{"riops":"2"}`, "operations"},
		{`{"wiops":"20"}`, "operations"},
		{some, "nowhere"},
		{some, "no-default"},
		{some, "broken"},
		{`{"rbps":`, "fresh"},
		{some, "fresh"}, // placed, and counted nowhere
	} {
		c.try(ctx, t, asking("p", attempt.annotation), node(attempt.node))
	}
	const want = `
# HELP vicinity_diskio_disk_kinds Kinds of disks (vendor and model) in the cluster, by whether a disk model is Loaded for them; the others get the default one (Default).
# TYPE vicinity_diskio_disk_kinds gauge
vicinity_diskio_disk_kinds{model="Default",profile=""} 1
vicinity_diskio_disk_kinds{model="Loaded",profile=""} 1
# HELP vicinity_diskio_nodes Nodes with described disks by their report: Fresh, Stale, or None where nothing was measured.
# TYPE vicinity_diskio_nodes gauge
vicinity_diskio_nodes{profile="",report="Fresh"} 1
vicinity_diskio_nodes{profile="",report="None"} 4
vicinity_diskio_nodes{profile="",report="Stale"} 1
# HELP vicinity_diskio_rejected_nodes_total Nodes rejected for a pod: what their disk has too little of (read, write, total, readIOPS, writeIOPS), or that nobody describes their disks (undescribed), none of them is the default one (noDefaultDisk), or the disk's model does not apply to the pod (model).
# TYPE vicinity_diskio_rejected_nodes_total counter
vicinity_diskio_rejected_nodes_total{reason="model"} 1
vicinity_diskio_rejected_nodes_total{reason="noDefaultDisk"} 1
vicinity_diskio_rejected_nodes_total{reason="read"} 1
vicinity_diskio_rejected_nodes_total{reason="readIOPS"} 1
vicinity_diskio_rejected_nodes_total{reason="total"} 0
vicinity_diskio_rejected_nodes_total{reason="undescribed"} 1
vicinity_diskio_rejected_nodes_total{reason="write"} 2
vicinity_diskio_rejected_nodes_total{reason="writeIOPS"} 1
# HELP vicinity_diskio_unreadable_requests_total Scheduling attempts of pods that ended because the annotation with their request could not be read.
# TYPE vicinity_diskio_unreadable_requests_total counter
vicinity_diskio_unreadable_requests_total 1
`
	if err := testutil.GatherAndCompare(c.registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
