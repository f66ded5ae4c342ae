package perf

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
	"github.com/vicinity-scheduler/vicinity/pkg/recording"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracesink"
)

// scoredNodes is the size of Sniffer's budget: recording costs less than 1 % of a decision's CPU time there.
const scoredNodes = 500

// decider is a scheduler with the default plugins whose cycles are called one by one, without a queue and without binding.
type decider struct {
	*scheduler.Scheduler
	profile framework.Framework
	pods    []*framework.QueuedPodInfo
	next    int
}

// newDecider returns a scheduler of so many nodes that are all scored; with a recorder it is recorded.
func newDecider(b *testing.B, nodes int, recorder *sniffer.Recorder) *decider {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	var all []*corev1.Node
	for i := range nodes {
		all = append(all, st.MakeNode().Name(nodeName(i)).Label(corev1.LabelTopologyZone, fmt.Sprint("z", i%3)).
			Capacity(map[corev1.ResourceName]string{"cpu": "32", "memory": "128Gi", "pods": "110"}).Obj())
	}
	client := fake.NewClientset()
	registry := frameworkruntime.Registry{}
	if recorder != nil {
		registry[sniffer.Name] = func(_ context.Context, _ apiruntime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			args := configv1.SnifferArgs{}
			configv1.SetDefaults_SnifferArgs(&args)
			return sniffer.New(&args, handle, recorder)
		}
	}
	everyNode := int32(100)
	sched, err := scheduler.New(ctx, client, scheduler.NewInformerFactory(client, 0, nil), nil, noEvents,
		scheduler.WithProfiles(defaultProfile(b, recorder != nil)), scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithPercentageOfNodesToScore(&everyNode), scheduler.WithNodeInfoSnapshot(cache.NewSnapshot(nil, all)))
	must(b, err)
	if recorder != nil && recording.Install(sched, recorder) != 1 {
		b.Fatal("the profile is not recorded")
	}
	d := &decider{Scheduler: sched, profile: sched.Profiles[corev1.DefaultSchedulerName]}
	for i := range 1000 {
		pod := st.MakePod().Namespace("team").Name(fmt.Sprint("pod-", i)).UID(fmt.Sprint("pod-", i)).
			Req(map[corev1.ResourceName]string{"cpu": "100m", "memory": "128Mi"}).SchedulerName(corev1.DefaultSchedulerName).Obj()
		info, err := framework.NewPodInfo(pod)
		must(b, err)
		queued := &framework.QueuedPodInfo{PodInfo: info}
		queued.Attempts, queued.Timestamp = 1, time.Now()
		d.pods = append(d.pods, queued)
	}
	return d
}

func noEvents(string) events.EventRecorderLogger { return silence{} }

type silence struct{}

func (silence) Eventf(apiruntime.Object, apiruntime.Object, string, string, string, string, ...any) {}

func (s silence) WithLogger(klog.Logger) events.EventRecorderLogger { return s }

func defaultProfile(b *testing.B, recorded bool) schedulerapi.KubeSchedulerProfile {
	b.Helper()
	var versioned kubeschedulerv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var config schedulerapi.KubeSchedulerConfiguration
	must(b, scheme.Scheme.Convert(&versioned, &config, nil))
	if recorded {
		enabled := &config.Profiles[0].Plugins.MultiPoint.Enabled
		*enabled = append(*enabled, schedulerapi.Plugin{Name: sniffer.Name})
	}
	return config.Profiles[0]
}

// decide goes through a pod's scheduling cycle and what follows it, up to the binding, which is another process's work.
func (d *decider) decide(ctx context.Context, b *testing.B) {
	b.Helper()
	pod := d.pods[d.next%len(d.pods)]
	d.next++
	state := framework.NewCycleState()
	result, err := d.SchedulePod(ctx, d.profile, state, pod)
	if err != nil {
		b.Fatal(err)
	}
	node := result.SuggestedHost
	if status := d.profile.RunReservePluginsReserve(ctx, state, pod.Pod, node); !status.IsSuccess() {
		b.Fatal(status)
	}
	d.profile.RunPermitPlugins(ctx, state, pod.Pod, node)
	d.profile.WaitOnPermit(ctx, pod.Pod)
	d.profile.RunPreBindPlugins(ctx, state, pod.Pod, node)
	d.profile.RunPostBindPlugins(ctx, state, pod.Pod, node)
}

// cpuTime is what this process has used so far, on all cores: the writer's share counts too.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// counter is a sink that counts, so that a block can wait until what it made is written.
type counter struct{ written chan struct{} }

func (c *counter) Write(*trace.Record)         { c.written <- struct{}{} }
func (c *counter) Close(context.Context) error { return nil }

// BenchmarkSniffer alternates between blocks of decisions without and with the recorder, and reports the CPU time of each
// and by how many percent recording is more. Run it with a -benchtime of some thousands: one block proves nothing.
func BenchmarkSniffer(b *testing.B) {
	for _, tc := range []struct {
		name  string
		sinks func(*testing.B) []sniffer.Sink
	}{
		{"records", func(*testing.B) []sniffer.Sink { return nil }},
		{"file", func(b *testing.B) []sniffer.Sink {
			b.Helper()
			return []sniffer.Sink{tracesink.NewFile(klog.Background(), &configv1.SnifferFileSink{
				Path: b.TempDir() + "/decisions.jsonl", MaxSizeMiB: 1024, MaxBackups: 1,
			}, sinkMetrics(b))}
		}},
		{"spool", func(b *testing.B) []sniffer.Sink {
			b.Helper()
			stream, err := tracesink.NewStream(b.Context(), &configv1.SnifferServiceSink{
				Address: "unix:" + b.TempDir() + "/nobody", SpoolDirectory: b.TempDir(), SpoolMaxMiB: 64,
			}, sinkMetrics(b))
			must(b, err)
			return []sniffer.Sink{stream}
		}},
	} {
		b.Run(fmt.Sprintf("%s/nodes=%d", tc.name, scoredNodes), func(b *testing.B) { compareRecording(b, tc.sinks(b)) })
	}
}

func sinkMetrics(b *testing.B) *tracesink.Metrics {
	b.Helper()
	metrics, err := tracesink.NewMetrics(prometheus.NewRegistry())
	must(b, err)
	return metrics
}

func compareRecording(b *testing.B, sinks []sniffer.Sink) {
	b.Helper()
	const block, pause = 100, 150 * time.Millisecond
	metrics, err := sniffer.NewMetrics(prometheus.NewRegistry())
	must(b, err)
	recorder := sniffer.NewRecorder(sniffer.Identity{Scheduler: "bench", Session: "s"}, clock.RealClock{}, metrics)
	off, on := newDecider(b, scoredNodes, nil), newDecider(b, scoredNodes, recorder)
	count := &counter{written: make(chan struct{}, block)}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- recorder.Run(ctx, append(sinks, count), time.Second) }()
	// Each block ends with the same pause, in which the writer writes and the garbage collector does what it does when a
	// process is idle: that must not be charged to one side.
	run := func(d *decider) time.Duration {
		began := cpuTime(b)
		for range block {
			d.decide(b.Context(), b)
		}
		time.Sleep(pause)
		return cpuTime(b) - began
	}
	plain := func() time.Duration { return run(off) }
	recorded := func() time.Duration {
		used := run(on)
		for range block {
			<-count.written
		}
		return used
	}
	var without, with time.Duration
	var more []float64 // of each pair of blocks, in percent: the median is not moved by what else the machine does
	decisions := 0
	for b.Loop() {
		decisions++
		if decisions%block != 0 {
			continue // a block at a time
		}
		// Which one comes first changes each time: the first may find colder caches.
		var off1, on1 time.Duration
		if decisions/block%2 == 0 {
			off1, on1 = plain(), recorded()
		} else {
			on1 = recorded()
			off1 = plain()
		}
		without, with = without+off1, with+on1
		more = append(more, 100*(float64(on1)/float64(off1)-1))
	}
	cancel()
	must(b, <-done)
	if n := decisions / block * block; n > 0 {
		b.ReportMetric(float64(without.Microseconds())/float64(n), "cpu-us/off")
		b.ReportMetric(float64(with.Microseconds())/float64(n), "cpu-us/on")
		slices.Sort(more)
		b.ReportMetric(100*(float64(with)/float64(without)-1), "%more")
		b.ReportMetric(more[len(more)/2], "%more-median")
	}
}
