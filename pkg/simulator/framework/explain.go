package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// Question is a pod that does not exist yet, and the cluster that it would come to.
type Question struct {
	// Cluster and Running are a snapshot: the nodes, and the pods that have one.
	Cluster model.Cluster
	Running []model.Pod
	// Pod is what is asked about.
	Pod model.Pod
}

// Answer is where the pod would go, and why.
type Answer struct {
	// Node is empty if the pod would find none, and then Reason is kube-scheduler's message.
	Node   string `json:"node,omitempty"`
	Reason string `json:"reason,omitempty"`
	// GPUs are the devices that it would get, for pods that ask for GPUs.
	GPUs []int `json:"gpus,omitempty"`
	// Nodes are all nodes, the best first, then those that were rejected, by name.
	Nodes []Verdict `json:"nodes"`
}

// Verdict is what became of one node.
type Verdict struct {
	Node string `json:"node"`
	// Plugin is the first one that rejected the node, with its reason; empty if none did.
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Total is the sum of Scores. Nothing scores where only one node is left.
	Total  int64   `json:"total"`
	Scores []Score `json:"scores,omitempty"`
}

// Score is one plugin's say about a node.
type Score struct {
	Plugin string `json:"plugin"`
	// Raw is what the plugin said, Weighted what counts: brought to 0..100 where the plugin does that, times its weight.
	Raw      int64 `json:"raw"`
	Weighted int64 `json:"weighted"`
}

// DryRun asks the scheduler of a configuration where a pod would go. Every node is looked at, whatever the configuration
// says of sampling. Nothing is placed and nothing written anywhere.
//
// Requests count as they stand, without the default of the predecessor, and only devices are booked beside
// kube-scheduler's own cache: a live cluster may have promised more than it has.
func DryRun(ctx context.Context, options *Options, q *Question) (*Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	setup := &engine.Setup{
		Cluster: &q.Cluster, State: occupancy.New(onlyDevices(&q.Cluster), typical(q.Running)), Rand: dice.New(0),
		Now: func() time.Duration { return 0 },
	}
	complete := *options
	complete.everyNode = true
	s, err := start(ctx, &complete, setup)
	if err != nil {
		return nil, err
	}
	s.asIs = true
	for i := range q.Running {
		if err := s.place(i, &q.Running[i]); err != nil {
			return nil, err
		}
	}
	return s.explain(ctx, len(q.Running), &q.Pod)
}

// onlyDevices is the cluster with nothing scarce but devices.
func onlyDevices(cluster *model.Cluster) *model.Cluster {
	plenty := model.Cluster{Nodes: slices.Clone(cluster.Nodes)}
	for i := range plenty.Nodes {
		n := &plenty.Nodes[i]
		n.CPUMilli, n.MemoryBytes, n.MaxPods = math.MaxInt64/2, math.MaxInt64/2, 0
	}
	return &plenty
}

// typical are the classes of the pods that run, for policies that measure fragmentation.
func typical(pods []model.Pod) []gpushare.TypicalPod {
	classes := make([]gpushare.Class, 0, len(pods))
	for i := range pods {
		classes = append(classes, policy.ClassOf(&pods[i]))
	}
	return gpushare.Typical(classes, gpushare.Popularity{Threshold: 95, Step: 1, IncludeCPUPods: true})
}

// place lets a pod run on its node. Devices that it cannot have are not booked: a snapshot need not say which ones it
// has, and then the first ones with room are taken for it.
func (s *Scheduler) place(index int, pod *model.Pod) error {
	at, known := s.rank[pod.Node]
	if !known {
		return nil // its node is gone
	}
	object := s.podObject(index, pod)
	object.Spec.NodeName = pod.Node
	if err := s.inner.Cache.AddPod(s.logger, object); err != nil {
		return fmt.Errorf("pod %s of the snapshot: %w", pod.Key(), err)
	}
	wish := s.setup.State.Wish(pod)
	if !s.setup.State.Fits(at, &wish) {
		return nil
	}
	devices := s.devices[s.first.ProfileName()].Devices(at, pod)
	if err := s.setup.State.Place(pod, model.Binding{Node: at, GPUs: devices}); err != nil {
		return fmt.Errorf("pod %s of the snapshot: %w", pod.Key(), err)
	}
	return nil
}

// explain decides and watches.
func (s *Scheduler) explain(ctx context.Context, index int, pod *model.Pod) (*Answer, error) {
	s.now = decision{index: index, pod: pod, object: s.podObject(index, pod), wish: s.setup.State.Wish(pod)}
	profile := s.profileOf(s.now.object)
	w := &watched{tamed: profile, verdicts: make([]Verdict, len(s.setup.Cluster.Nodes))}
	for i := range w.verdicts {
		w.verdicts[i].Node = s.setup.Cluster.Nodes[i].Name
	}
	binding, err := s.decide(ctx, profile, w)
	answer := &Answer{Nodes: w.verdicts}
	switch {
	case errors.Is(err, engine.ErrNoFit):
		answer.Reason = strings.TrimPrefix(err.Error(), engine.ErrNoFit.Error()+": ")
	case err != nil:
		return nil, err
	default:
		answer.Node, answer.GPUs = s.setup.Cluster.Nodes[binding.Node].Name, binding.GPUs
	}
	slices.SortFunc(answer.Nodes, func(a, b Verdict) int { return compareVerdicts(answer.Node, &a, &b) })
	return answer, nil
}
