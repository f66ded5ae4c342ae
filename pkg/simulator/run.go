package simulator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/deschedule"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/world"
)

// Run plays the experiment. It does not change it, and the same experiment gives the same result.
func Run(ctx context.Context, x *Experiment, options Options) (*model.Result, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what the scheduler has started
	random := workload.NewRand(x.Workload.Seed)
	base := workload.ByName(x.Pods)
	pods, err := x.arrange(base, random)
	if err != nil {
		return nil, err
	}
	cluster := x.order(random)
	newScheduler := options.NewScheduler
	if newScheduler == nil {
		newScheduler = policy.Scheduler(&x.Policy)
	}
	setup := &engine.Setup{Cluster: &cluster, Typical: x.Typical.of(base), Rand: random}
	if setup.World, err = x.world(&cluster); err != nil {
		return nil, err
	}
	e, err := engine.New(ctx, setup, newScheduler, engine.Config{
		Queue: x.Queue.engine(), Observer: options.Observer, Bellman: options.Bellman, Failures: x.World.Failures,
	})
	if err != nil {
		return nil, err
	}
	stages := &stages{experiment: x, engine: e, setup: setup, base: base}
	if err := stages.play(ctx, pods); err != nil {
		return nil, err
	}
	return &model.Result{
		Policy: x.Policy.Title(), Trace: x.Trace, Seed: x.Workload.Seed,
		Nodes: cluster.Nodes, Pods: e.Pods(), Placements: e.Placements(), Curve: stages.curve,
		Stages: stages.done, Decisions: e.Decisions(),
	}, nil
}

// world is nil where the experiment has nothing of it, which spares runs without it the bookkeeping.
func (x *Experiment) world(cluster *model.Cluster) (*world.World, error) {
	used := len(x.World.Datasets)+len(x.World.Failures) > 0
	for _, pods := range x.workloads() {
		used = used || slices.ContainsFunc(pods, func(p model.Pod) bool {
			return len(p.Datasets) > 0 || len(p.Peers) > 0 || p.DiskBytesPerSecond != 0
		})
	}
	if !used {
		return nil, nil
	}
	w, err := world.New(cluster, &x.World)
	if err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	return w, nil
}

// workloads are all pods, by what a fault in them is called.
func (x *Experiment) workloads() map[string][]model.Pod {
	lists := map[string][]model.Pod{"pods": slices.Concat(x.Pods, x.Daemons), "new workload": x.NewWorkload}
	for _, app := range x.Apps {
		lists["app "+app.Name] = app.Pods
	}
	return lists
}

// arrange orders and sizes the workload.
func (x *Experiment) arrange(base []model.Pod, random *dice.Rand) ([]model.Pod, error) {
	var pods []model.Pod
	if x.Workload.Shuffle {
		pods = workload.Shuffle(base, random)
	} else {
		pods = workload.ByArrival(base)
	}
	if x.Workload.TuningRatio > 0 {
		return workload.Tune(pods, base, &x.Cluster, x.Workload.TuningRatio, random)
	}
	return pods, nil
}

// order is the cluster with its nodes as ties are resolved.
func (x *Experiment) order(random *dice.Rand) model.Cluster {
	if x.Workload.KeepNodeOrder {
		return model.Cluster{Nodes: slices.Clone(x.Cluster.Nodes)}
	}
	nodes := make([]model.Node, 0, len(x.Cluster.Nodes))
	for _, at := range workload.Permute(x.Cluster.Nodes, random) {
		nodes = append(nodes, x.Cluster.Nodes[at])
	}
	return model.Cluster{Nodes: nodes}
}

// of are the typical ones of the pods.
func (t Typical) of(pods []model.Pod) []gpushare.TypicalPod {
	if t.PopularityThreshold == 0 {
		t.PopularityThreshold = 60
	}
	if t.IncreaseStep == 0 {
		t.IncreaseStep = 10
	}
	classes := make([]gpushare.Class, 0, len(pods))
	for i := range pods {
		classes = append(classes, policy.ClassOf(&pods[i]))
	}
	return gpushare.Typical(classes, gpushare.Popularity{
		Threshold: t.PopularityThreshold, Step: t.IncreaseStep, GPUWeight: t.GPUWeight, IncludeCPUPods: t.IncludeCPUPods,
	})
}

// Validate checks everything that a run depends on, but for the policy, which the scheduler checks.
func (x *Experiment) Validate() error {
	if err := x.Cluster.Validate(); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	lists := x.workloads()
	for _, name := range sortedKeys(lists) {
		if err := model.ValidatePods(lists[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return x.validateNumbers()
}

// maxPause bounds the back-off, so that doubling it cannot overflow.
const maxPause = 24 * time.Hour

func (x *Experiment) validateNumbers() error {
	t := x.Typical
	if t.PopularityThreshold < 0 || t.PopularityThreshold > 100 || t.IncreaseStep < 0 || !(t.GPUWeight >= 0) {
		return fmt.Errorf("typical pods: threshold %d, step %d, weight %v: expected 0 to 100, 0 or more, 0 or more",
			t.PopularityThreshold, t.IncreaseStep, t.GPUWeight)
	}
	if ratio := x.Workload.TuningRatio; !(ratio >= 0 && ratio <= workload.MaxRatio) {
		return fmt.Errorf("tuning ratio %v: expected 0 to %d", ratio, workload.MaxRatio)
	}
	for _, pause := range []time.Duration{x.Queue.InitialBackoff, x.Queue.MaxBackoff} {
		if pause < 0 || pause > maxPause {
			return fmt.Errorf("back-off of %v: expected 0 to %v", pause, maxPause)
		}
	}
	if policies := deschedule.Names(); x.Deschedule.Policy != "" && !slices.Contains(policies, x.Deschedule.Policy) {
		return fmt.Errorf("descheduling policy %q: expected one of %v", x.Deschedule.Policy, policies)
	}
	return nil
}

func sortedKeys(m map[string][]model.Pod) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
