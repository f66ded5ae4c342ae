package perf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/edgedelay"
)

// The sizes of EdgeDelay's budgets: every node measures 64 others, among them the two that bounds refer to.
const (
	rttPeers   = 64
	references = 2
)

// edgeDelay is the plugin over a matrix of 5,000 nodes in a plane of 60 ms, in which they report anew at will.
func edgeDelay(b *testing.B) (plugin *edgedelay.EdgeDelay, nodes []fwk.NodeInfo, report func(node int)) {
	b.Helper()
	ctx, s := newSurroundings(b)
	store := delay.NewStore()
	metrics, err := edgedelay.NewMetrics(prometheus.NewRegistry(), store, clock.RealClock{})
	must(b, err)
	shared, err := edgedelay.NewShared(store, s.informers, clock.RealClock{}, metrics)
	must(b, err)
	random := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, nodeCount), make([]float64, nodeCount)
	for i := range nodeCount {
		x[i], y[i] = random.Float64()*60, random.Float64()*60
		node := st.MakeNode().Name(nodeName(i)).Label(corev1.LabelTopologyZone, fmt.Sprint("zone-", i%5)).Obj()
		must(b, s.informers.Core().V1().Nodes().Informer().GetStore().Add(node))
		store.SetNode(node.Name, node.Labels[corev1.LabelTopologyZone])
		info := framework.NewNodeInfo()
		info.SetNode(node)
		nodes = append(nodes, info)
	}
	rows := make([][]delay.PeerSample, nodeCount)
	for i := range rows {
		for k := range rttPeers {
			j := k
			if k >= references {
				j = (i + 1 + k*71) % nodeCount
			}
			if j == i {
				continue
			}
			p50 := time.Duration((math.Hypot(x[i]-x[j], y[i]-y[j]) + 0.2) * float64(time.Millisecond))
			rows[i] = append(rows[i], delay.PeerSample{Peer: nodeName(j), Sample: delay.Sample{
				P50: p50, P99: 2 * p50, HasP99: true, Known: true, Count: 20, ObservedAt: time.Now(),
			}})
		}
	}
	report = func(i int) {
		for k := range rows[i] {
			rows[i][k].P50 += time.Microsecond
		}
		store.Update(nodeName(i), delay.SourceAgent, rows[i], time.Now())
	}
	for i := range rows {
		report(i)
	}
	args := &configv1.EdgeDelayArgs{}
	configv1.SetDefaults_EdgeDelayArgs(args)
	plugin, err = edgedelay.New(ctx, args, s.handle, shared)
	must(b, err)
	return plugin, nodes, report
}

// boundPod is within 25 ms of node 0 and within 40 ms of node 1.
func boundPod() *corev1.Pod {
	return st.MakePod().Namespace("team").Name("p").UID("p").
		Label("delay_"+nodeName(0), "25").Label("delay_"+nodeName(1), "40").Obj()
}

// BenchmarkEdgeDelayPreFilter: budget p99 < 1 ms, while a node's report changes the ways to both references before each
// pod.
func BenchmarkEdgeDelayPreFilter(b *testing.B) {
	plugin, nodes, report := edgeDelay(b)
	pod := boundPod()
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		report(i % nodeCount)
		begin := time.Now()
		if _, status := plugin.PreFilter(b.Context(), framework.NewCycleState(), pod, nodes); !status.IsSuccess() {
			b.Fatal(status)
		}
		took = append(took, time.Since(begin))
	}
	reportP99(b, took)
}

// BenchmarkEdgeDelayPreFilterCached: the same when nothing has changed since the last pod.
func BenchmarkEdgeDelayPreFilterCached(b *testing.B) {
	plugin, nodes, _ := edgeDelay(b)
	pod := boundPod()
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

// feasibleNodes are those within the pod's bounds, and the cycle's state after PreFilter.
func feasibleNodes(b *testing.B, plugin *edgedelay.EdgeDelay, nodes []fwk.NodeInfo, pod *corev1.Pod) ([]fwk.NodeInfo, fwk.CycleState) {
	b.Helper()
	cycle := framework.NewCycleState()
	if _, status := plugin.PreFilter(b.Context(), cycle, pod, nodes); !status.IsSuccess() {
		b.Fatal(status)
	}
	var feasible []fwk.NodeInfo
	for _, info := range nodes {
		if plugin.Filter(b.Context(), cycle, pod, info).IsSuccess() {
			feasible = append(feasible, info)
		}
	}
	if len(feasible) == 0 || len(feasible) == len(nodes) {
		b.Fatalf("%d of %d nodes are within the bounds; want some", len(feasible), len(nodes))
	}
	return feasible, cycle
}

// BenchmarkEdgeDelayFilter: budget 100 ns and no allocation for a node within the bounds.
func BenchmarkEdgeDelayFilter(b *testing.B) {
	plugin, nodes, _ := edgeDelay(b)
	pod := boundPod()
	feasible, cycle := feasibleNodes(b, plugin, nodes, pod)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if status := plugin.Filter(b.Context(), cycle, pod, feasible[i%len(feasible)]); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}

// BenchmarkEdgeDelayFilterRejects: nodes beyond a bound; the reason is made for each.
func BenchmarkEdgeDelayFilterRejects(b *testing.B) {
	plugin, nodes, _ := edgeDelay(b)
	pod := boundPod()
	_, cycle := feasibleNodes(b, plugin, nodes, pod)
	var beyond []fwk.NodeInfo
	for _, info := range nodes {
		if !plugin.Filter(b.Context(), cycle, pod, info).IsSuccess() {
			beyond = append(beyond, info)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if plugin.Filter(b.Context(), cycle, pod, beyond[i%len(beyond)]).IsSuccess() {
			b.Fatal("a node beyond the bound was let in")
		}
	}
}

// BenchmarkEdgeDelayScore: budget 200 ns and no allocation, with sixteen sets of nodes that others need more.
func BenchmarkEdgeDelayScore(b *testing.B) {
	plugin, nodes, _ := edgeDelay(b)
	for i := range 16 {
		other := st.MakePod().Namespace("team").Name("other").UID("other").Label("delay_"+nodeName(i%references), fmt.Sprint(2+i)).Obj()
		if _, status := plugin.PreFilter(b.Context(), framework.NewCycleState(), other, nodes); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
	pod := boundPod()
	feasible, cycle := feasibleNodes(b, plugin, nodes, pod)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, status := plugin.Score(b.Context(), cycle, pod, feasible[i%len(feasible)]); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}

// BenchmarkEdgeDelayUnboundPod is what the plugin costs pods that do not use it, over candidates without a cloud.
func BenchmarkEdgeDelayUnboundPod(b *testing.B) {
	plugin, nodes, _ := edgeDelay(b)
	pod := st.MakePod().Namespace("team").Name("p").UID("p").Label("app", "web").Obj()
	b.ReportAllocs()
	for b.Loop() {
		cycle := framework.NewCycleState()
		if _, status := plugin.PreFilter(b.Context(), cycle, pod, nodes); !status.IsSkip() {
			b.Fatal(status)
		}
		if status := plugin.PreScore(b.Context(), cycle, pod, nodes[:500]); !status.IsSkip() {
			b.Fatal(status)
		}
	}
}
