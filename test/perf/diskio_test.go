package perf

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
)

// The sizes of DiskIO's budgets.
const (
	disksEach = 8
	podsEach  = 10
)

// identityModels charges what pods ask for.
type identityModels struct{}

func (identityModels) Model(blockio.Kind) blockio.Model { return blockio.Identity{} }
func (identityModels) Known(blockio.Kind) bool          { return true }
func (identityModels) Generation() uint64               { return 1 }
func (identityModels) OnModelChange(func())             {}

// diskIO is the plugin over 5,000 nodes of 8 disks and 10 pods each.
func diskIO(b *testing.B) (*diskio.DiskIO, []fwk.NodeInfo) {
	b.Helper()
	ctx, s := newSurroundings(b)
	args := &configv1.DiskIOArgs{}
	configv1.SetDefaults_DiskIOArgs(args)
	metrics, err := diskio.NewMetrics(prometheus.NewRegistry())
	must(b, err)
	devices := diskiov1alpha1.GroupVersion().WithResource("nodediskdevices")
	plugin, err := diskio.New(ctx, args, s.handle, s.stateWith(ctx, b, devices, describedDisks()), identityModels{},
		blockio.NewFills(time.Hour), clock.RealClock{}, metrics)
	must(b, err)
	infos := make([]fwk.NodeInfo, nodeCount)
	for i := range infos {
		pods := make([]*corev1.Pod, podsEach)
		for p := range pods {
			pods[p] = askingPod(fmt.Sprint("pod-", i, "-", p))
		}
		info := framework.NewNodeInfo(pods...)
		info.SetNode(st.MakeNode().Name(nodeName(i)).Obj())
		infos[i] = info
	}
	return plugin, infos
}

func describedDisks() (objects []*unstructured.Unstructured) {
	for i := range nodeCount {
		disks := map[string]any{}
		for d := range disksEach {
			kind := "others"
			if d == 0 {
				kind = "emptyDir"
			}
			disks[fmt.Sprint("dev", d)] = map[string]any{
				"name": fmt.Sprint("dev", d), "vendor": "Intel", "model": "P4510", "type": kind,
				"mountPoints": []any{fmt.Sprint("/mnt/", d)},
				"capacity":    map[string]any{"read": "3000Mi", "write": "2000Mi", "total": "4000Mi"},
			}
		}
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "diskio.x-k8s.io/v1alpha1", "kind": "NodeDiskDevice",
			"metadata": map[string]any{"name": nodeName(i), "namespace": "vicinity-system"},
			"spec":     map[string]any{"nodeName": nodeName(i), "devices": disks},
		}})
	}
	return objects
}

func askingPod(name string) *corev1.Pod {
	return st.MakePod().Namespace("team").Name(name).UID(name).
		Annotation(vicinityv1alpha1.BlockIOAnnotation, `{"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}`).Obj()
}

// BenchmarkDiskIOPreFilter: budget p99 < 1 ms.
func BenchmarkDiskIOPreFilter(b *testing.B) {
	plugin, nodes := diskIO(b)
	pod := askingPod("p")
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		if _, status := plugin.PreFilter(b.Context(), framework.NewCycleState(), pod, nodes); !status.IsSuccess() {
			b.Fatal(status)
		}
		took = append(took, time.Since(begin))
	}
	reportP99(b, took)
}

// BenchmarkDiskIOFilter: budget 200 ns and no allocation for a node whose pods have not changed.
func BenchmarkDiskIOFilter(b *testing.B) {
	benchmarkNodes(b, func(plugin *diskio.DiskIO, cycle fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
		return plugin.Filter(b.Context(), cycle, pod, info)
	})
}

// BenchmarkDiskIOScore: budget 200 ns and no allocation.
func BenchmarkDiskIOScore(b *testing.B) {
	benchmarkNodes(b, func(plugin *diskio.DiskIO, cycle fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
		_, status := plugin.Score(b.Context(), cycle, pod, info)
		return status
	})
}

func benchmarkNodes(b *testing.B, call func(*diskio.DiskIO, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) *fwk.Status) {
	b.Helper()
	plugin, nodes := diskIO(b)
	pod, cycle := askingPod("p"), framework.NewCycleState()
	if _, status := plugin.PreFilter(b.Context(), cycle, pod, nodes); !status.IsSuccess() {
		b.Fatal(status)
	}
	for _, info := range nodes { // the first call for a node sums its pods
		if status := call(plugin, cycle, pod, info); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if status := call(plugin, cycle, pod, nodes[i%nodeCount]); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}

// BenchmarkDiskIONodeWhosePodsChanged: what Filter costs on the one node that the last pod went to.
func BenchmarkDiskIONodeWhosePodsChanged(b *testing.B) {
	plugin, nodes := diskIO(b)
	pod, cycle := askingPod("p"), framework.NewCycleState()
	if _, status := plugin.PreFilter(b.Context(), cycle, pod, nodes); !status.IsSuccess() {
		b.Fatal(status)
	}
	copies := []fwk.NodeInfo{nodes[0].Snapshot(), nodes[0].Snapshot()}
	added, err := framework.NewPodInfo(askingPod("added"))
	must(b, err)
	copies[1].AddPodInfo(added)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if status := plugin.Filter(b.Context(), cycle, pod, copies[i%2]); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}
