package framework_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedulerframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/framework"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Sizes of the published cluster; the pods are so many that none of them fails to find a node.
const (
	benchNodes = 1213
	benchPods  = 600
)

// BenchmarkOverBareLoop: budget 10 % over a bare loop of UpdateSnapshot, SchedulePod and AssumePod in the same run, with
// kube-scheduler's default plugins. Both take turns, so that whatever else the machine does hits both alike; each is
// measured by its quickest turn.
func BenchmarkOverBareLoop(b *testing.B) {
	for _, percentage := range []int32{0, 100} {
		b.Run(fmt.Sprintf("percentageOfNodesToScore=%d", percentage), func(b *testing.B) {
			x := defaults()
			config := fmt.Appendf(nil, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+
				"percentageOfNodesToScore: %d\nprofiles: [{schedulerName: default-scheduler}]\n", percentage)
			bare, ours := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				runtime.GC()
				bare = min(bare, bareLoop(b, x, percentage))
				runtime.GC()
				ours = min(ours, simulated(b, x, config))
			}
			b.ReportMetric(benchPods/bare.Seconds(), "bare-decisions/s")
			b.ReportMetric(benchPods/ours.Seconds(), "decisions/s")
			b.ReportMetric(100*(float64(ours)/float64(bare)-1), "%-over-bare")
		})
	}
}

// simulated is the time from the first event to the last: what comes before is done once a run.
func simulated(b *testing.B, x *simulator.Experiment, config []byte) time.Duration {
	b.Helper()
	watch := &stopwatch{}
	result, err := simulator.Run(b.Context(), x, simulator.Options{
		NewScheduler: framework.New(&framework.Options{Config: config}), Observer: watch,
	})
	if err != nil {
		b.Fatal(err)
	}
	if scheduled, _ := result.Count(); scheduled != benchPods {
		b.Fatalf("%d of %d pods have a node", scheduled, benchPods)
	}
	return watch.last.Sub(watch.first) * benchPods / (benchPods - 1)
}

// stopwatch knows when the first and the last pod had been placed.
type stopwatch struct{ first, last time.Time }

func (w *stopwatch) Observe(*model.Event) {
	w.last = time.Now()
	if w.first.IsZero() {
		w.first = w.last
	}
}

// bareLoop is what a program would do that has nothing but kube-scheduler.
func bareLoop(b *testing.B, x *simulator.Experiment, percentage int32) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(b.Context(), klog.FromContext(b.Context()).V(3)))
	defer cancel()
	logger, snapshot := klog.FromContext(ctx), internalcache.NewEmptySnapshot()
	client := fake.NewClientset()
	s, err := scheduler.New(ctx, client, scheduler.NewInformerFactory(client, 0, nil), nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithNodeInfoSnapshot(snapshot), scheduler.WithPercentageOfNodesToScore(&percentage), scheduler.WithParallelism(1))
	if err != nil {
		b.Fatal(err)
	}
	for i := range x.Cluster.Nodes {
		s.Cache.AddNode(logger, bareNode(&x.Cluster.Nodes[i]))
	}
	var first time.Time
	for i := range x.Pods {
		pod := barePod(i, &x.Pods[i])
		if err := s.Cache.UpdateSnapshot(logger, snapshot); err != nil {
			b.Fatal(err)
		}
		info, err := schedulerframework.NewPodInfo(pod)
		if err != nil {
			b.Fatal(err)
		}
		result, err := s.SchedulePod(ctx, s.Profiles["default-scheduler"], schedulerframework.NewCycleState(),
			&schedulerframework.QueuedPodInfo{PodInfo: info})
		if err != nil {
			b.Fatal(err)
		}
		pod.Spec.NodeName = result.SuggestedHost
		if err := s.Cache.AssumePod(logger, pod); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			first = time.Now()
		}
	}
	return time.Since(first) * benchPods / (benchPods - 1)
}

func bareNode(n *model.Node) *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(n.CPUMilli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(n.MemoryBytes, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(int64(n.MaxPods), resource.DecimalSI),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{corev1.LabelHostname: n.Name}},
		Status:     corev1.NodeStatus{Allocatable: resources, Capacity: resources},
	}
}

func barePod(index int, p *model.Pod) *corev1.Pod {
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(p.CPUMilli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(p.MemoryBytes, resource.BinarySI),
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(fmt.Sprint(index))},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

// defaults are alike nodes and pods of several sizes, in the order of their names.
func defaults() *simulator.Experiment {
	x := &simulator.Experiment{Trace: "bench", Workload: simulator.Workload{KeepNodeOrder: true}}
	for i := range benchNodes {
		x.Cluster.Nodes = append(x.Cluster.Nodes, model.Node{
			Name: fmt.Sprintf("node-%04d", i), CPUMilli: 96000, MemoryBytes: 384 << 30, MaxPods: 110,
		})
	}
	for i := range benchPods {
		x.Pods = append(x.Pods, model.Pod{
			Namespace: "default", Name: fmt.Sprintf("pod-%04d", i), CPUMilli: int64(500 * (1 + i%8)), MemoryBytes: int64(1+i%5) << 30,
		})
	}
	return x
}
