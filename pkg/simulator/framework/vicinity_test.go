package framework_test

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/framework"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// only is a profile in which nothing but one plugin scores.
func only(plugin string) []byte {
	return fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: %[1]s, weight: 10}]}
    preScore: {disabled: [{name: '*'}], enabled: [{name: %[1]s}]}
    score: {disabled: [{name: '*'}], enabled: [{name: %[1]s, weight: 10}]}
`, plugin)
}

// fourNodes are in two racks of one zone, in the order of their names.
func fourNodes() *simulator.Experiment {
	x := &simulator.Experiment{Trace: "four", Workload: simulator.Workload{KeepNodeOrder: true}}
	for i, rack := range []string{"r1", "r1", "r2", "r2"} {
		name := fmt.Sprintf("n%d", i)
		x.Cluster.Nodes = append(x.Cluster.Nodes, model.Node{
			Name: name, CPUMilli: 2000, MemoryBytes: 1 << 30, Labels: map[string]string{
				"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "z", "topology.vicinity.dev/rack": rack,
			},
		})
	}
	return x
}

func nodesOf(t *testing.T, x *simulator.Experiment, config []byte) []string {
	t.Helper()
	result := play(t, x, simulator.Options{NewScheduler: framework.New(&framework.Options{Config: config})})
	var nodes []string
	for i := range result.Placements {
		if p := &result.Placements[i]; p.Scheduled() {
			nodes = append(nodes, result.Nodes[p.Binding.Node].Name)
		} else {
			nodes = append(nodes, "none: "+p.Reason)
		}
	}
	return nodes
}

// TestCacheAwareGoesWhereDataIs: the dataset is on n3, which has room for one pod of 2 CPUs. The second one goes to n2,
// in the same rack, and brings a copy there. The third, of another rack or not, finds both full: n0 and n1 are alike,
// and the first one wins.
func TestCacheAwareGoesWhereDataIs(t *testing.T) {
	defer goleak.VerifyNone(t)
	x := fourNodes()
	x.World.Datasets = []model.Dataset{{Name: "images", Bytes: 1 << 30, Nodes: []string{"n3"}}}
	for i := range 3 {
		x.Pods = append(x.Pods, model.Pod{
			Namespace: "team", Name: fmt.Sprint("p", i), CPUMilli: 2000, MemoryBytes: 1 << 20, Datasets: []string{"images"},
			Arrival: time.Duration(i) * time.Second,
		})
	}
	if got, want := fmt.Sprint(nodesOf(t, x, only("CacheAware"))), "[n3 n2 n0]"; got != want {
		t.Errorf("want %s, found %s", want, got)
	}
}

// TestDiskIOKeepsDisksWithinWhatTheyCanDo: each disk does 100 MB/s; a pod of 60 MB/s leaves 40 MB/s, so that four pods
// get a disk each and the fifth gets none until one has left.
func TestDiskIOKeepsDisksWithinWhatTheyCanDo(t *testing.T) {
	defer goleak.VerifyNone(t)
	x := fourNodes()
	for i := range x.Cluster.Nodes {
		x.Cluster.Nodes[i].DiskBytesPerSecond = 100e6
	}
	for i := range 5 {
		x.Pods = append(x.Pods, model.Pod{
			Namespace: "team", Name: fmt.Sprint("p", i), CPUMilli: 100, MemoryBytes: 1 << 20, DiskBytesPerSecond: 60e6,
			Arrival: time.Duration(i) * time.Second,
		})
	}
	got := nodesOf(t, x, only("DiskIO"))
	on := map[string]int{}
	for _, node := range got {
		on[node]++
	}
	if len(on) != 5 || on["n0"] != 1 || on["n1"] != 1 || on["n2"] != 1 || on["n3"] != 1 {
		t.Errorf("want a pod on each of n0 to n3 and one nowhere, found %q", got)
	}
}
