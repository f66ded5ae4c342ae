package simulator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

func TestPlanCapacity(t *testing.T) {
	shape := &model.Node{Name: "new", CPUMilli: 16000, MemoryBytes: 1 << 40, GPUs: 2, GPUModel: "T4"}
	pods := func(count int, pod model.Pod) []model.Pod {
		var pods []model.Pod
		for i := range count {
			pod.Name = fmt.Sprint(i)
			pods = append(pods, pod)
		}
		return pods
	}
	old := []model.Node{{Name: "old", CPUMilli: 16000, MemoryBytes: 1 << 40, GPUs: 4}}
	for _, c := range []struct {
		name  string
		nodes []model.Node
		pods  []model.Pod
		want  int
	}{
		// Two pods to a device, four to a node.
		{"21 halves on an empty cluster", nil, pods(21, model.Pod{GPUs: 1, GPUMilli: 500}), 6},
		{"what there is counts: 8 on the old node", old, pods(21, model.Pod{GPUs: 1, GPUMilli: 500}), 4},
		{"nothing is missing", old, pods(8, model.Pod{GPUs: 1, GPUMilli: 500}), 0},
		{"CPU decides: one to a node", nil, pods(9, model.Pod{CPUMilli: 9000, GPUs: 1, GPUMilli: 100}), 9},
		{"no pods need one node, since a cluster has one", nil, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := small(policy.BestFit)
			x.Cluster.Nodes, x.Pods = c.nodes, c.pods
			plan, err := simulator.PlanCapacity(t.Context(), x, shape, 100, simulator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Nodes != c.want || len(plan.Result.Nodes) != c.want+len(c.nodes) {
				t.Errorf("got %d nodes and a run on %d, want %d more than %d", plan.Nodes, len(plan.Result.Nodes), c.want, len(c.nodes))
			}
		})
	}
}

// TestPlanIsTight runs with one node less.
func TestPlanIsTight(t *testing.T) {
	for seed := range int64(5) {
		x := small(policy.FGD)
		x.Workload.Seed, x.Cluster.Nodes = seed, x.Cluster.Nodes[:1]
		for i := range x.Pods {
			x.Pods[i].GPUModels = nil
		}
		shape := &model.Node{Name: "new", CPUMilli: 8000, MemoryBytes: 1 << 36, GPUs: 2}
		plan, err := simulator.PlanCapacity(t.Context(), x, shape, 100, simulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, unscheduled := plan.Result.Count(); unscheduled != 0 {
			t.Errorf("seed %d: %d pods have no node", seed, unscheduled)
		}
		_, err = simulator.PlanCapacity(t.Context(), x, shape, plan.Nodes-1, simulator.Options{})
		if !errors.Is(err, simulator.ErrNeverFits) {
			t.Errorf("seed %d: %d nodes were found; with one less: %v, want ErrNeverFits", seed, plan.Nodes, err)
		}
	}
}

func TestPlanOfTimedPodsReusesRoom(t *testing.T) {
	x := small(policy.BestFit)
	x.Cluster.Nodes, x.Pods, x.Workload.Shuffle = nil, nil, false
	for i := range 10 {
		at := time.Duration(i) * time.Minute
		x.Pods = append(x.Pods, model.Pod{
			Name: fmt.Sprint(i), GPUs: 1, GPUMilli: 1000, Arrival: at, Departure: at + 90*time.Second,
		})
	}
	shape := &model.Node{Name: "new", GPUs: 1}
	// At most two run at a time.
	plan, err := simulator.PlanCapacity(t.Context(), x, shape, 100, simulator.Options{})
	if err != nil || plan.Nodes != 2 {
		t.Errorf("got %+v (%v), want 2 nodes", plan, err)
	}
}

func TestPlanFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*simulator.Experiment, *model.Node)
		most   int
		want   string
	}{
		{"a pod that fits nowhere", func(x *simulator.Experiment, _ *model.Node) { x.Pods[0].CPUMilli = 1e6 }, 10, "pod team/pod-00 fits on no empty node"},
		{"a tuned workload", func(x *simulator.Experiment, _ *model.Node) { x.Workload.TuningRatio = 1 }, 10, "leave out the tuning ratio"},
		{"a shape with a node's name", func(_ *simulator.Experiment, n *model.Node) { n.Name = "node-0" }, 10, "name of a node of the cluster"},
		{"a shape with negative CPU", func(_ *simulator.Experiment, n *model.Node) { n.CPUMilli = -1 }, 10, "cpu milli is -1"},
		{"no nodes may be added", func(*simulator.Experiment, *model.Node) {}, 0, "expected 1 to 1000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, shape := small(policy.FGD), &model.Node{Name: "new", CPUMilli: 8000, MemoryBytes: 1 << 36, GPUs: 2}
			c.change(x, shape)
			_, err := simulator.PlanCapacity(t.Context(), x, shape, c.most, simulator.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
