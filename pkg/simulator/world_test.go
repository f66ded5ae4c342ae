package simulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// twoNodes is an experiment on two nodes of one rack with a core each and disks that do 100 bytes a second.
func twoNodes(scorer string, pods ...model.Pod) *simulator.Experiment {
	labels := map[string]string{"rack": "r0", "topology.kubernetes.io/zone": "z"}
	x := &simulator.Experiment{
		Pods:     pods,
		Workload: simulator.Workload{KeepNodeOrder: true},
		Policy:   policy.Config{Scorers: []policy.Scorer{{Name: scorer, Weight: 1}}},
		Queue:    simulator.Queue{Retry: true, RunFullLength: true},
	}
	for _, name := range []string{"a", "b"} {
		x.Cluster.Nodes = append(x.Cluster.Nodes, model.Node{Name: name, CPUMilli: 1000, DiskBytesPerSecond: 100, Labels: labels})
	}
	x.World.Links[model.SameRack] = model.Link{RTT: time.Millisecond, BytesPerSecond: 100}
	x.World.Links[model.Store] = model.Link{BytesPerSecond: 10}
	return x
}

// outcome is a line for each pod: node, when it was placed and left, and what the world did to it.
func outcome(result *model.Result) []string {
	var lines []string
	for i := range result.Placements {
		p := &result.Placements[i]
		line := result.Pods[p.Pod].Name
		if p.Scheduled() {
			line += fmt.Sprintf(" on %s %v-%v", result.Nodes[p.Binding.Node].Name, p.Placed, p.Departed)
		}
		line += fmt.Sprintf(" staged %v stalled %v restarts %d", p.StageIn, p.Stalled, p.Restarts)
		lines = append(lines, line)
	}
	return lines
}

func TestWorld(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		name string
		x    *simulator.Experiment
		want []string
	}{
		{
			// Two pods ask for 80 of 100 from 10 s on, 5/8 each: the first has 10 s of work left then, which take 16 s. The
			// second has 20 s: 16 s do 10 of them, the other 10 go at full speed.
			name: "an overloaded disk stalls both",
			x: twoNodes(policy.BestFit,
				model.Pod{Name: "first", CPUMilli: 500, DiskBytesPerSecond: 80, Departure: 20 * second, Node: "a"},
				model.Pod{Name: "second", CPUMilli: 500, DiskBytesPerSecond: 80, Arrival: 10 * second, Departure: 30 * second, Node: "a"},
			),
			want: []string{
				"first on a 0s-26s staged 0s stalled 6s restarts 0",
				"second on a 10s-36s staged 0s stalled 6s restarts 0",
			},
		},
		{
			name: "who does not use the disk does not notice",
			x: twoNodes(policy.BestFit,
				model.Pod{Name: "calm", CPUMilli: 500, Departure: 20 * second, Node: "a"},
				model.Pod{Name: "greedy", CPUMilli: 500, DiskBytesPerSecond: 200, Departure: 20 * second, Node: "a"},
			),
			want: []string{
				"calm on a 0s-20s staged 0s stalled 0s restarts 0",
				"greedy on a 0s-40s staged 0s stalled 20s restarts 0",
			},
		},
		{
			// 1,000 bytes from the store take 100 s; the second reads them on the same node, the third next door: 10 s.
			name: "data is staged in once to a node",
			x: data(twoNodes(policy.BestFit,
				model.Pod{Name: "first", CPUMilli: 500, Departure: 20 * second, Datasets: []string{"d"}, Node: "a"},
				model.Pod{Name: "second", CPUMilli: 500, Departure: 20 * second, Datasets: []string{"d"}, Node: "a"},
				model.Pod{Name: "third", CPUMilli: 500, Departure: 20 * second, Datasets: []string{"d"}, Node: "b"},
			)),
			want: []string{
				"first on a 0s-2m0s staged 1m40s stalled 0s restarts 0",
				"second on a 0s-20s staged 0s stalled 0s restarts 0",
				"third on b 0s-30s staged 10s stalled 0s restarts 0",
			},
		},
		{
			name: "a policy that knows puts a pod where its data is",
			x: data(twoNodes(policy.DatasetLocality,
				model.Pod{Name: "first", CPUMilli: 500, Departure: 20 * second, Datasets: []string{"d"}, Node: "b"},
				model.Pod{Name: "second", CPUMilli: 500, Departure: 20 * second, Datasets: []string{"d"}},
			)),
			want: []string{
				"first on b 0s-2m0s staged 1m40s stalled 0s restarts 0",
				"second on b 0s-20s staged 0s stalled 0s restarts 0",
			},
		},
		{
			name: "a policy that knows spares a busy disk",
			x: twoNodes(policy.DiskHeadroom,
				model.Pod{Name: "first", CPUMilli: 500, DiskBytesPerSecond: 80, Departure: 20 * second},
				model.Pod{Name: "second", CPUMilli: 500, DiskBytesPerSecond: 80, Departure: 20 * second},
			),
			want: []string{
				"first on a 0s-20s staged 0s stalled 0s restarts 0",
				"second on b 0s-20s staged 0s stalled 0s restarts 0",
			},
		},
		{
			name: "a policy that knows puts a pod beside its peer",
			x: twoNodes(policy.PeerDistance,
				model.Pod{Name: "db", CPUMilli: 500, Departure: 20 * second, Node: "b"},
				model.Pod{Name: "web", CPUMilli: 500, Departure: 20 * second, Peers: []string{"/db"}},
			),
			want: []string{
				"db on b 0s-20s staged 0s stalled 0s restarts 0",
				"web on b 0s-20s staged 0s stalled 0s restarts 0",
			},
		},
		{
			// Node a fails after 15 of 20 s: its pod starts anew on b. The next pod has room again when a is back.
			name: "a pod starts anew when its node fails",
			x: failing(twoNodes(policy.BestFit,
				model.Pod{Name: "first", CPUMilli: 1000, Departure: 20 * second},
				model.Pod{Name: "next", CPUMilli: 1000, Arrival: 16 * second, Departure: 17 * second},
			), model.Failure{Node: "a", At: 15 * second, Until: 30 * second}),
			want: []string{
				"first on b 15s-35s staged 0s stalled 0s restarts 1",
				"next on a 30s-31s staged 0s stalled 0s restarts 0",
			},
		},
		{
			name: "and never runs when no node is left",
			x: failing(twoNodes(policy.BestFit, model.Pod{Name: "first", CPUMilli: 1000, Departure: 20 * second}),
				model.Failure{Node: "b", At: 5 * second}, model.Failure{Node: "a", At: 6 * second}),
			want: []string{"first staged 0s stalled 0s restarts 1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outcome(run(t, c.x))); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func data(x *simulator.Experiment) *simulator.Experiment {
	x.World.Datasets = []model.Dataset{{Name: "d", Bytes: 1000}}
	return x
}

func failing(x *simulator.Experiment, failures ...model.Failure) *simulator.Experiment {
	x.World.Failures = failures
	return x
}

func TestWorldFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		x    *simulator.Experiment
		want string
	}{
		{"data that does not exist", twoNodes(policy.BestFit, model.Pod{Name: "p", Datasets: []string{"x"}}), `reads dataset "x"`},
		{"a disk below zero", twoNodes(policy.BestFit, model.Pod{Name: "p", DiskBytesPerSecond: -1}), "-1 bytes per second"},
		{"a failure of no node", failing(twoNodes(policy.BestFit), model.Failure{Node: "x"}), `failure 0 is of node "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := simulator.Run(t.Context(), c.x, simulator.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
