package deschedule

import (
	"slices"
	"testing"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
)

// starved is a cluster whose first node has idle GPUs and no CPU, its second a torn GPU, its third nothing wrong.
func starved(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{Pods: []model.Pod{
		{Name: "cpu", CPUMilli: 6000},                                 // on node 0
		{Name: "small", CPUMilli: 1500, GPUs: 1, GPUMilli: 100},       // on node 0
		{Name: "share", CPUMilli: 1000, GPUs: 1, GPUMilli: 300},       // on node 1
		{Name: "other-share", CPUMilli: 1000, GPUs: 1, GPUMilli: 300}, // on node 1
		{Name: "whole", CPUMilli: 4000, GPUs: 1, GPUMilli: 1000},      // on node 2
		{Name: "gone", CPUMilli: 4000, GPUs: 1, GPUMilli: 1000},
		{Name: "failed", CPUMilli: 4000, GPUs: 1, GPUMilli: 1000},
	}}
	cluster := &model.Cluster{Nodes: []model.Node{
		{Name: "a", CPUMilli: 8000, GPUs: 2}, {Name: "b", CPUMilli: 64000, GPUs: 2}, {Name: "c", CPUMilli: 64000, GPUs: 2},
	}}
	typical := []gpushare.TypicalPod{{Class: gpushare.Class{CPUMilli: 4000, GPUs: 1, GPUMilli: 1000}, Frequency: 1}}
	c.State = occupancy.New(cluster, typical)
	for i, binding := range []model.Binding{
		{Node: 0},
		{Node: 0, GPUs: []int{0}},
		{Node: 1, GPUs: []int{0}},
		{Node: 1, GPUs: []int{1}},
		{Node: 2, GPUs: []int{0}},
		{Node: 2},
		{Node: model.Unplaced},
	} {
		c.Placements = append(c.Placements, model.Placement{Pod: i, Binding: binding, HasDeparted: i == 5})
		if i < 5 {
			if err := c.State.Place(&c.Pods[i], binding); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.Evict = func(pod int) error { return c.State.Remove(&c.Pods[pod], c.Placements[pod].Binding) }
	return c
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		ratio        float64
		want         []int
	}{
		// Node 0 has 500 milli CPU left and 1,900 idle. Without "cpu" 6,500 and 1,900 would be free, the cosine with
		// (6000, 0) is 0.96; without "small" 2,000 and 2,000, the cosine with (1500, 100) is 0.75. On node 1 both are
		// alike, on node 2 a whole device is idle: (64000, 2000) and (4000, 1000) have 0.98.
		{"the pod least like what is left", CosSim, 0.2, []int{1}},
		{"one from every node", CosSim, 1, []int{1, 2, 4}},
		// F is 1,900 on node 0 and 1,400 on node 1, 0 on node 2. Without "cpu" node 0 has F = 900, without "small" it
		// lacks CPU still: 4000 > 2000. Without a share node 1 has 700.
		{"the most fragmented node first", FragOnePod, 0.2, []int{0}},
		{"one from every fragmented node", FragOnePod, 1, []int{0, 2}},
		// Then node 1 with 1,400 is the most fragmented, node 0 with 900, where "small" now spoils a device, and
		// node 1 again.
		{"as long as it helps", FragMultiPod, 1, []int{0, 2, 1, 3}},
		{"no more than allowed", FragMultiPod, 0.6, []int{0, 2, 1}},
		{"none", FragMultiPod, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Run(c.policy, c.ratio, starved(t))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("evicted %v, want %v", got, c.want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	if _, err := Run("fragNoPod", 0.1, starved(t)); err == nil {
		t.Error("an unknown policy is accepted")
	}
	if _, err := Run(CosSim, 1.1, starved(t)); err == nil {
		t.Error("more than all pods may be evicted")
	}
}
