package recording_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
	"github.com/vicinity-scheduler/vicinity/pkg/recording"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// memory is a sink that keeps what it is given.
type memory struct {
	mu      sync.Mutex
	records []*trace.Record
}

func (m *memory) Write(r *trace.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, r)
}

func (m *memory) Close(context.Context) error { return nil }

func (m *memory) of(pod string) (out []*trace.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		if r.Pod.Name == pod {
			out = append(out, r)
		}
	}
	return out
}

// settings are what differs from a scheduler with the default plugins.
type settings struct {
	objects []apiruntime.Object
	args    configv1.SnifferArgs
	// more is a plugin besides the default ones.
	more fwk.Plugin
	// sign makes the default plugins ones that sign pods.
	sign bool
	// off leaves the scheduler without the recorder.
	off bool
}

// rig is a scheduler in this process on a client in memory.
type rig struct {
	*scheduler.Scheduler
	client    *fake.Clientset
	sink      *memory
	installed int
	bound     chan string
}

func newRig(t testing.TB, s settings) *rig {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithCancel(ctx)
	r := &rig{client: fake.NewClientset(s.objects...), sink: &memory{}, bound: make(chan string, 1000)}
	r.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, apiruntime.Object, error) {
		create, ok := action.(clienttesting.CreateAction)
		if !ok || action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		if binding, ok := create.GetObject().(*corev1.Binding); ok {
			r.bound <- binding.Name
		}
		return true, create.GetObject(), nil
	})
	factory := scheduler.NewInformerFactory(r.client, 0, nil)
	metrics, err := sniffer.NewMetrics(prometheus.NewRegistry())
	must(t, err)
	recorder := sniffer.NewRecorder(sniffer.Identity{Scheduler: "test", Session: "s1"}, clock.RealClock{}, metrics)
	must(t, recorder.WatchPods(factory.Core().V1().Pods().Informer()))
	registry := frameworkruntime.Registry{
		sniffer.Name: func(_ context.Context, _ apiruntime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			args := s.args
			configv1.SetDefaults_SnifferArgs(&args)
			return sniffer.New(&args, handle, recorder)
		},
	}
	if s.more != nil {
		registry[s.more.Name()] = func(context.Context, apiruntime.Object, fwk.Handle) (fwk.Plugin, error) { return s.more, nil }
	}
	everyNode := int32(100)
	r.Scheduler, err = scheduler.New(ctx, r.client, factory, nil, quiet, scheduler.WithProfiles(profileOf(t, s)),
		scheduler.WithFrameworkOutOfTreeRegistry(registry), scheduler.WithPercentageOfNodesToScore(&everyNode))
	must(t, err)
	var done sync.WaitGroup
	if !s.off {
		r.installed = recording.Install(r.Scheduler, recorder)
		done.Go(func() { must(t, recorder.Run(ctx, []sniffer.Sink{r.sink}, time.Minute)) })
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	must(t, r.WaitForHandlersSync(ctx))
	done.Go(func() { r.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
		factory.Shutdown()
	})
	return r
}

// quiet swallows events.
func quiet(string) events.EventRecorderLogger { return &silence{} }

type silence struct{}

func (*silence) Eventf(apiruntime.Object, apiruntime.Object, string, string, string, string, ...any) {
}
func (s *silence) WithLogger(klog.Logger) events.EventRecorderLogger { return s }

var _ profile.RecorderFactory = quiet

func profileOf(t testing.TB, s settings) schedulerapi.KubeSchedulerProfile {
	t.Helper()
	var versioned kubeschedulerv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var config schedulerapi.KubeSchedulerConfiguration
	must(t, scheme.Scheme.Convert(&versioned, &config, nil))
	p := config.Profiles[0]
	p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, schedulerapi.Plugin{Name: sniffer.Name})
	if s.more != nil {
		p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, schedulerapi.Plugin{Name: s.more.Name(), Weight: 2})
	}
	for i := range p.PluginConfig {
		if args, ok := p.PluginConfig[i].Args.(*schedulerapi.PodTopologySpreadArgs); ok && s.sign {
			args.DefaultingType, args.DefaultConstraints = schedulerapi.ListDefaulting, nil
		}
	}
	return p
}

// await waits until as many pods are bound.
func (r *rig) await(t testing.TB, pods int) {
	t.Helper()
	for range pods {
		select {
		case <-r.bound:
		case <-time.After(time.Minute):
			t.Fatalf("not all of %d pods were bound within a minute", pods)
		}
	}
}

// record waits for the pod's nth record.
func (r *rig) record(t testing.TB, pod string, n int) *trace.Record {
	t.Helper()
	for range 6000 {
		if records := r.sink.of(pod); len(records) >= n {
			return records[n-1]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("found %d records of pod %s, want %d", len(r.sink.of(pod)), pod, n)
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// counting is a plugin at every extension point that a pod passes; it counts its calls.
type counting struct {
	preFilter, filter, preScore, score, normalize, reserve, permit, preBind, postBind atomic.Int64
}

func (*counting) Name() string { return "Counting" }

func (c *counting) PreFilter(context.Context, fwk.CycleState, *corev1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c.preFilter.Add(1)
	return nil, nil
}

func (*counting) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter rejects nodes whose label says so.
func (c *counting) Filter(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	c.filter.Add(1)
	if reason := node.Node().Labels["refuse"]; reason != "" {
		return fwk.NewStatus(fwk.Unschedulable, reason)
	}
	return nil
}

func (c *counting) PreScore(context.Context, fwk.CycleState, *corev1.Pod, []fwk.NodeInfo) *fwk.Status {
	c.preScore.Add(1)
	return nil
}

// Score is longer for longer names: a score that a test can tell.
func (c *counting) Score(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	c.score.Add(1)
	return int64(len(node.Node().Name)), nil
}

func (c *counting) ScoreExtensions() fwk.ScoreExtensions { return c }

// NormalizeScore gives ten points for each character.
func (c *counting) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	c.normalize.Add(1)
	for i := range scores {
		scores[i].Score *= 10
	}
	return nil
}

func (c *counting) Reserve(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	c.reserve.Add(1)
	return nil
}

func (*counting) Unreserve(context.Context, fwk.CycleState, *corev1.Pod, string) {}

func (c *counting) Permit(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.Status, time.Duration) {
	c.permit.Add(1)
	return nil, 0
}

func (*counting) PreBindPreFlight(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

func (c *counting) PreBind(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	c.preBind.Add(1)
	return nil
}

func (c *counting) PostBind(context.Context, fwk.CycleState, *corev1.Pod, string) { c.postBind.Add(1) }

// SignPod says that nothing but the pod matters.
func (*counting) SignPod(context.Context, *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}

func (*counting) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}}}, nil
}

func (c *counting) calls() map[string]int64 {
	return map[string]int64{
		"PreFilter": c.preFilter.Load(), "Filter": c.filter.Load(), "PreScore": c.preScore.Load(), "Score": c.score.Load(),
		"NormalizeScore": c.normalize.Load(), "Reserve": c.reserve.Load(), "Permit": c.permit.Load(), "PreBind": c.preBind.Load(),
		"PostBind": c.postBind.Load(),
	}
}

var _ informers.SharedInformerFactory
