package framework

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// Options are what a scheduler is made from, beside the engine's set-up.
type Options struct {
	// Config is a KubeSchedulerConfiguration of version v1.
	Config []byte
	// TieBreak is how equal scores are resolved. Default: firstByName.
	TieBreak policy.TieBreak
	// Objects are what plugins look up beside nodes and pods: claims, volumes, storage classes, namespaces, services and
	// the like.
	Objects []runtime.Object
	// everyNode overrides what the configuration says of sampling.
	everyNode bool
}

// Scheduler decides with kube-scheduler's code. It belongs to one goroutine.
type Scheduler struct {
	setup    *engine.Setup
	inner    *scheduler.Scheduler
	snapshot *internalcache.Snapshot
	logger   klog.Logger
	profiles map[string]*tamed
	first    *tamed
	devices  map[string]*policy.Native
	rank     map[string]int
	claims   map[string]bool
	now      decision
	running  map[int]running
	// asIs counts the requests of pods as they stand.
	asIs bool
}

// decision is what Schedule is about, or what it found last.
type decision struct {
	index  int
	pod    *model.Pod
	object *corev1.Pod
	wish   occupancy.Wish
	// reserve takes what plugins count beside the node's resources, release gives it back. Nil for pods that nobody was
	// asked about.
	reserve func(node string) *fwk.Status
	release func(node string)
}

// running is a pod on its node.
type running struct {
	object  *corev1.Pod
	release func(node string)
}

// The engine may let nodes fail: the books that the filter reads know.
var (
	_ engine.Scheduler = (*Scheduler)(nil)
	_ engine.Drainer   = (*Scheduler)(nil)
)

// New makes a constructor for engines. The scheduler's goroutines end with the context that is given to it.
func New(options *Options) engine.NewScheduler {
	return func(ctx context.Context, setup *engine.Setup) (engine.Scheduler, error) {
		return start(ctx, options, setup)
	}
}

func start(ctx context.Context, options *Options, setup *engine.Setup) (*Scheduler, error) {
	// What kube-scheduler tells about its start is no news of a simulation; errors still get through.
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).V(quiet))
	c, err := Decode(options.Config)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{
		setup: setup, snapshot: internalcache.NewEmptySnapshot(), logger: klog.FromContext(ctx), rank: map[string]int{},
		claims: map[string]bool{}, running: map[int]running{}, profiles: map[string]*tamed{}, devices: map[string]*policy.Native{},
	}
	if options.everyNode {
		lookEverywhere(c)
	}
	for i := range setup.Cluster.Nodes {
		s.rank[setup.Cluster.Nodes[i].Name] = i
	}
	ties, err := s.ties(options.TieBreak)
	if err != nil {
		return nil, err
	}
	client := fake.NewClientset(options.Objects...)
	factory := scheduler.NewInformerFactory(client, 0, nil)
	s.inner, err = scheduler.New(ctx, client, factory, nil, discard, s.options(c)...)
	if err != nil {
		return nil, fmt.Errorf("setting up kube-scheduler: %w", err)
	}
	for i := range c.Profiles {
		name := c.Profiles[i].SchedulerName
		s.profiles[name] = &tamed{Framework: s.inner.Profiles[name], rank: s.rank, rand: ties}
		if s.devices[name], err = s.devicesOf(&c.Profiles[i]); err != nil {
			return nil, err
		}
	}
	s.first = s.profiles[c.Profiles[0].SchedulerName]
	return s, s.fill(ctx, factory, options.Objects)
}

// options are kube-scheduler's.
func (s *Scheduler) options(c *config.KubeSchedulerConfiguration) []scheduler.Option {
	return []scheduler.Option{
		scheduler.WithComponentConfigVersion(c.APIVersion),
		scheduler.WithProfiles(c.Profiles...),
		scheduler.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		scheduler.WithParallelism(1),
		scheduler.WithFrameworkOutOfTreeRegistry(s.registry()),
		scheduler.WithNodeInfoSnapshot(s.snapshot),
	}
}

// quiet is the verbosity from which kube-scheduler's information is shown.
const quiet = 3

// discard takes events, of which there are none as long as nothing binds.
func discard(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

func (s *Scheduler) ties(tieBreak policy.TieBreak) (*dice.Rand, error) {
	switch tieBreak {
	case "", policy.TieFirstByName:
		return nil, nil //nolint:nilnil // without a source nothing is drawn
	case policy.TieRandom:
		return s.setup.Rand, nil
	default:
		return nil, fmt.Errorf("tie break %q: expected %s or %s", tieBreak, policy.TieFirstByName, policy.TieRandom)
	}
}

// fill lets kube-scheduler know the cluster.
func (s *Scheduler) fill(ctx context.Context, factory informers.SharedInformerFactory, objects []runtime.Object) error {
	for _, object := range objects {
		if claim, ok := object.(*corev1.PersistentVolumeClaim); ok {
			s.claims[claim.Namespace+"/"+claim.Name] = true
		}
	}
	if len(objects) > 0 {
		factory.StartWithContext(ctx)
		factory.WaitForCacheSyncWithContext(ctx)
		if err := s.inner.WaitForHandlersSync(ctx); err != nil {
			return fmt.Errorf("reading the objects beside nodes and pods: %w", err)
		}
	}
	nodes := factory.Core().V1().Nodes().Informer().GetStore()
	for i := range s.setup.Cluster.Nodes {
		node := nodeObject(&s.setup.Cluster.Nodes[i])
		s.inner.Cache.AddNode(s.logger, node)
		if err := nodes.Add(node); err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	return nil
}

func (s *Scheduler) nodeOf(node fwk.NodeInfo) (int, error) {
	at, known := s.rank[node.Node().Name]
	if !known {
		return 0, fmt.Errorf("node %s is not of the experiment", node.Node().Name)
	}
	return at, nil
}

// profileOf is the profile that the pod's schedulerName asks for, or the first one.
func (s *Scheduler) profileOf(pod *corev1.Pod) *tamed {
	if p, ok := s.profiles[pod.Spec.SchedulerName]; ok {
		return p
	}
	return s.first
}

// Schedule implements [engine.Scheduler].
func (s *Scheduler) Schedule(ctx context.Context, pod int, spec *model.Pod) (model.Binding, error) {
	s.now = decision{index: pod, pod: spec, object: s.podObject(pod, spec), wish: s.setup.State.Wish(spec)}
	profile := s.profileOf(s.now.object)
	if spec.Node != "" {
		return s.bound(profile)
	}
	return s.decide(ctx, profile, profile)
}

// decide asks kube-scheduler. through is the profile or what watches it.
func (s *Scheduler) decide(ctx context.Context, profile *tamed, through framework.Framework) (model.Binding, error) {
	object := s.now.object
	if err := s.inner.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return model.Binding{}, fmt.Errorf("taking kube-scheduler's snapshot: %w", err)
	}
	info, err := framework.NewPodInfo(object)
	if err != nil {
		return model.Binding{}, fmt.Errorf("reading pod %s: %w", s.now.pod.Key(), err)
	}
	state := framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	result, err := s.inner.SchedulePod(ctx, through, state, &framework.QueuedPodInfo{PodInfo: info})
	var misfit *framework.FitError
	switch {
	case errors.As(err, &misfit), errors.Is(err, scheduler.ErrNoNodesAvailable):
		return model.Binding{}, fmt.Errorf("%w: %w", engine.ErrNoFit, err)
	case err != nil:
		return model.Binding{}, fmt.Errorf("kube-scheduler: %w", err)
	}
	s.now.reserve = func(node string) *fwk.Status { return profile.RunReservePluginsReserve(ctx, state, object, node) }
	s.now.release = func(node string) { profile.RunReservePluginsUnreserve(ctx, state, object, node) }
	return s.binding(profile, s.rank[result.SuggestedHost]), nil
}

func (s *Scheduler) binding(profile *tamed, node int) model.Binding {
	return model.Binding{Node: node, GPUs: s.devices[profile.ProfileName()].Devices(node, s.now.pod)}
}

// bound is the pod's own node, if the engine's books have room there. kube-scheduler is not asked about pods that have
// a node.
func (s *Scheduler) bound(profile *tamed) (model.Binding, error) {
	at, known := s.rank[s.now.pod.Node]
	if !known {
		return model.Binding{}, fmt.Errorf("%w: there is no node %s", engine.ErrNoFit, s.now.pod.Node)
	}
	if lack := s.setup.State.Lack(at, &s.now.wish); lack != "" {
		return model.Binding{}, fmt.Errorf("%w: node %s, which the pod runs on: %s", engine.ErrNoFit, s.now.pod.Node, lack)
	}
	return s.binding(profile, at), nil
}

// Assume implements [engine.Scheduler].
func (s *Scheduler) Assume(pod int, spec *model.Pod, binding model.Binding) error {
	if s.now.object == nil || s.now.index != pod {
		return fmt.Errorf("pod %s is placed without having been decided on", spec.Key())
	}
	object, node := s.now.object, s.setup.Cluster.Nodes[binding.Node].Name
	object.Spec.NodeName = node
	if err := s.inner.Cache.AssumePod(s.logger, object); err != nil {
		return fmt.Errorf("kube-scheduler's cache: %w", err)
	}
	if s.now.reserve != nil {
		if status := s.now.reserve(node); !status.IsSuccess() {
			return fmt.Errorf("plugin %s takes pod %s on node %s back: %s", status.Plugin(), spec.Key(), node, status.Message())
		}
	}
	s.running[pod] = running{object: object, release: s.now.release}
	s.now = decision{}
	return nil
}

// Remove implements [engine.Scheduler].
func (s *Scheduler) Remove(pod int, spec *model.Pod, binding model.Binding) error {
	r, found := s.running[pod]
	if !found {
		return fmt.Errorf("pod %s leaves node %d without having come", spec.Key(), binding.Node)
	}
	delete(s.running, pod)
	if r.release != nil {
		r.release(r.object.Spec.NodeName)
	}
	if err := s.inner.Cache.RemoveAssumedPod(s.logger, r.object); err != nil {
		return fmt.Errorf("kube-scheduler's cache: %w", err)
	}
	return nil
}

// SetDown implements [engine.Drainer].
func (s *Scheduler) SetDown(int, bool) error { return nil }
