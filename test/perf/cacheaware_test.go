package perf

import (
	"fmt"
	"runtime"
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
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/cacheaware"
)

// The sizes of CacheAware's budgets.
const (
	datasetCount     = 2000
	replicasEach     = 10
	datasetsOfOnePod = 4
)

// cacheAware is the plugin over a full state, and the cluster's nodes.
func cacheAware(b *testing.B) (*cacheaware.CacheAware, []fwk.NodeInfo) {
	b.Helper()
	ctx, s := newSurroundings(b)
	infos := make([]fwk.NodeInfo, nodeCount)
	for i := range infos {
		node := st.MakeNode().Name(nodeName(i)).Label(corev1.LabelHostname, nodeName(i)).
			Label(vicinityv1alpha1.RackLabel, fmt.Sprint("rack-", i%125)).
			Label(corev1.LabelTopologyZone, fmt.Sprint("zone-", i%25)).
			Label(corev1.LabelTopologyRegion, fmt.Sprint("region-", i%5)).Obj()
		must(b, s.informers.Core().V1().Nodes().Informer().GetStore().Add(node))
		info := framework.NewNodeInfo()
		info.SetNode(node)
		infos[i] = info
	}
	metrics, err := cacheaware.NewMetrics(prometheus.NewRegistry())
	must(b, err)
	caches := vicinityv1alpha1.GroupVersion().WithResource("nodedatasetcaches")
	shared, err := cacheaware.NewShared(s.stateWith(ctx, b, caches, fullCaches()), s.nodes, s.informers, clock.RealClock{}, metrics, blockio.NewFills(time.Hour))
	must(b, err)
	args := &configv1.CacheAwareArgs{}
	configv1.SetDefaults_CacheAwareArgs(args)
	plugin, err := cacheaware.New(ctx, args, s.handle, shared)
	must(b, err)
	return plugin, infos
}

// fullCaches are NodeDatasetCache objects that hold every dataset's replicas.
func fullCaches() (objects []*unstructured.Unstructured) {
	byNode := map[int][]any{}
	for d := range datasetCount {
		for r := range replicasEach {
			node := (d*7 + r*499) % nodeCount
			byNode[node] = append(byNode[node], map[string]any{
				"namespace": "team", "name": datasetName(d), "medium": "SSD",
				"cachedBytes": int64(1+r) << 30, "totalBytes": int64(10) << 30,
				"observedAt": time.Now().UTC().Format(time.RFC3339),
			})
		}
	}
	for node, datasets := range byNode {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "vicinity.dev/v1alpha1", "kind": "NodeDatasetCache",
			"metadata": map[string]any{"name": nodeName(node)},
			"status":   map[string]any{"observedAt": time.Now().UTC().Format(time.RFC3339), "datasets": datasets},
		}})
	}
	return objects
}

func datasetName(i int) string { return fmt.Sprint("dataset-", i) }

// podOf asks for four datasets; different pods ask for different ones.
func podOf(i int) *corev1.Pod {
	pod := st.MakePod().Namespace("team").Name(fmt.Sprint("pod-", i)).UID(fmt.Sprint("pod-", i))
	for d := range datasetsOfOnePod {
		pod.Label(fmt.Sprintf("dataset.%d.id", d), datasetName((i*37+d*211)%datasetCount))
	}
	return pod.Obj()
}

// BenchmarkCacheAwarePreFilterPreScore: budget p99 < 1 ms for both together.
func BenchmarkCacheAwarePreFilterPreScore(b *testing.B) {
	plugin, nodes := cacheAware(b)
	pods := make([]*corev1.Pod, 1000)
	for i := range pods {
		pods[i] = podOf(i)
	}
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		preScored(b, plugin, pods[i%len(pods)], nodes)
		took = append(took, time.Since(begin))
	}
	reportP99(b, took)
}

// BenchmarkCacheAwareColdPreFilterPreScore: a cold dataset's home is looked for among all 5,000 candidates.
func BenchmarkCacheAwareColdPreFilterPreScore(b *testing.B) {
	plugin, nodes := cacheAware(b)
	pod := st.MakePod().Namespace("team").Name("cold").UID("cold").Label("dataset.0.id", "cold").Obj()
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		preScored(b, plugin, pod, nodes)
		took = append(took, time.Since(begin))
	}
	reportP99(b, took)
}

// BenchmarkCacheAwareScore: budget 200 ns and no allocation for a node.
func BenchmarkCacheAwareScore(b *testing.B) {
	plugin, nodes := cacheAware(b)
	pod := podOf(0)
	cycle := preScored(b, plugin, pod, nodes)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, status := plugin.Score(b.Context(), cycle, pod, nodes[i%nodeCount]); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}

// BenchmarkCacheAwareFilter: budget 200 ns and no allocation for a node that passes.
func BenchmarkCacheAwareFilter(b *testing.B) {
	plugin, nodes := cacheAware(b)
	pod := st.MakePod().Namespace("team").Name("required").UID("required").
		Label("dataset.0.id", datasetName(0)).Annotation(vicinityv1alpha1.DatasetPolicyAnnotation, "Required").Obj()
	cycle := framework.NewCycleState()
	if _, status := plugin.PreFilter(b.Context(), cycle, pod, nodes); !status.IsSuccess() {
		b.Fatal(status)
	}
	holder := nodes[0] // dataset 0's first replica is on node 0
	b.ReportAllocs()
	for b.Loop() {
		if status := plugin.Filter(b.Context(), cycle, pod, holder); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}

// BenchmarkCacheAwareMemory: budget 100 MB. The figure holds the node index, the datasets and, besides, the nodes
// themselves and the client in memory, which a scheduler has anyway or not at all. What is timed has no meaning.
func BenchmarkCacheAwareMemory(b *testing.B) {
	before := heap()
	plugin, nodes := cacheAware(b)
	after := heap()
	for b.Loop() {
		runtime.KeepAlive(plugin)
		runtime.KeepAlive(nodes)
	}
	b.ReportMetric(float64(after-before)/(1<<20), "MiB") // the loop's start drops what was reported before
}

func preScored(b *testing.B, plugin *cacheaware.CacheAware, pod *corev1.Pod, nodes []fwk.NodeInfo) fwk.CycleState {
	b.Helper()
	cycle := framework.NewCycleState()
	if _, status := plugin.PreFilter(b.Context(), cycle, pod, nodes); !status.IsSkip() {
		b.Fatalf("PreFilter: %v", status)
	}
	if status := plugin.PreScore(b.Context(), cycle, pod, nodes); !status.IsSuccess() {
		b.Fatalf("PreScore: %v", status)
	}
	return cycle
}
