package worldfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

const pods = `apiVersion: v1
kind: Pod
metadata:
  name: reader
  namespace: team
  labels: {dataset.0.id: images, dataset.0.useas: mount, dataset.1.id: elsewhere}
  annotations:
    blockio.kubernetes.io/resources: '{"rbps":"100Mi","wbps":"50Mi"}'
    alibabacloud.com/creation-time: "2026-01-01T00:00:00Z"
    alibabacloud.com/deletion-time: "2026-01-01T01:00:00Z"
spec: {nodeSelector: {kubernetes.io/hostname: n2}, containers: [{name: c, image: i}]}
`

const world = `apiVersion: simulate.vicinity.dev/v1
kind: World
datasets:
- {name: team/images, size: 1Gi, nodes: [n1]}
links:
  sameRack: {rtt: 50us, bandwidth: 1Gi}
  otherZone: {rtt: 1ms, bandwidth: 64Mi}
disks:
- {bandwidth: 100Mi}
- {nodes: [n1], bandwidth: 1Gi}
failures:
- {node: n1, at: 1h, until: 2h}
peers:
- {pod: team/reader, peers: [team/db]}
`

func experiment(t *testing.T) *simulator.Experiment {
	t.Helper()
	list := &faults.List{}
	set := manifests.Parse("pods.yaml", []byte(pods), list)
	workload, _ := manifests.ModelPods(set.Expand(list), list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	label := func(name string) map[string]string { return map[string]string{"kubernetes.io/hostname": name} }
	return &simulator.Experiment{
		Cluster: model.Cluster{Nodes: []model.Node{{Name: "n1", CPUMilli: 1000, Labels: label("n1")}, {Name: "n2", CPUMilli: 1000, Labels: label("n2")}}},
		Pods:    workload, Policy: policy.Config{Scorers: []policy.Scorer{{Name: policy.BestFit, Weight: 1}}},
	}
}

func TestApply(t *testing.T) {
	x, list := experiment(t), &faults.List{}
	Read("w.yaml", []byte(world), x, list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	want := model.World{
		Datasets: []model.Dataset{{Name: "team/images", Bytes: 1 << 30, Nodes: []string{"n1"}}},
		Failures: []model.Failure{{Node: "n1", At: time.Hour, Until: 2 * time.Hour}},
	}
	want.Links[model.SameRack] = model.Link{RTT: 50 * time.Microsecond, BytesPerSecond: 1 << 30}
	want.Links[model.OtherZone] = model.Link{RTT: time.Millisecond, BytesPerSecond: 64 << 20}
	if diff := cmp.Diff(want, x.World); diff != "" {
		t.Errorf("world (-want +got):\n%s", diff)
	}
	pod := &x.Pods[0]
	if pod.DiskBytesPerSecond != 150<<20 || !cmp.Equal(pod.Datasets, []string{"team/images"}) || !cmp.Equal(pod.Peers, []string{"team/db"}) {
		t.Errorf("want 150Mi/s, one dataset and one peer, found %+v", pod)
	}
	if x.Cluster.Nodes[0].DiskBytesPerSecond != 1<<30 || x.Cluster.Nodes[1].DiskBytesPerSecond != 100<<20 {
		t.Errorf("want the disk of n1 and that of others, found %+v", x.Cluster.Nodes)
	}
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "pod team/reader: dataset team/elsewhere is not in the world") {
		t.Errorf("want a warning of the other dataset, found %q", all)
	}
	result, err := simulator.Run(t.Context(), x, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// 1 GiB at 64 MiB/s takes 16 s. The pod asks for 1.5 times what the disk does: its hour takes half an hour longer.
	p := result.Placements[0]
	if p.StageIn != 16*time.Second || p.Stalled.Round(time.Second) != 30*time.Minute || p.Fetched[model.OtherZone] != 1<<30 {
		t.Errorf("want 16 s and 30 min, found %v and %v, bytes %v", p.StageIn, p.Stalled, p.Fetched)
	}
}

func TestFaultsNameFileLineAndField(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want string }{
		"another kind":      {"kind: World", "kind: Pod", "w.yaml:1: apiVersion: want apiVersion simulate.vicinity.dev/v1 and kind World"},
		"a node nobody has": {"nodes: [n1]}\nlinks", "nodes: [n9]}\nlinks", `w.yaml:4: datasets[0].nodes[0]: the cluster has no node "n9"`},
		"a negative size":   {"size: 1Gi", "size: -1", "w.yaml:4: datasets[0].size: want 0 to 1Pi bytes, found -1"},
		"no duration":       {"rtt: 1ms", "rtt: fast", "w.yaml:7: links.otherZone.rtt"},
		"back before down":  {"until: 2h", "until: 1m", "w.yaml:12: failures[0].until: want times of 0 or more, and until after at"},
		"a pod nobody has":  {"pod: team/reader", "pod: reader", `w.yaml:14: peers[0].pod: there is no pod "reader"`},
		"no name":           {"name: team/images, ", "", "w.yaml:4: datasets[0].name: want a name"},
	} {
		t.Run(name, func(t *testing.T) {
			list := &faults.List{}
			text := strings.Replace(world, tc.from, tc.to, 1)
			if text == world {
				t.Fatalf("the file does not have %q", tc.from)
			}
			Read("w.yaml", []byte(text), experiment(t), list)
			if err := list.Err(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want %q, found %v", tc.want, err)
			}
		})
	}
}

// FuzzRead: no file panics, and an experiment with an accepted one can be run.
func FuzzRead(f *testing.F) {
	f.Add(world)
	f.Add("kind: World\nlinks: {store: {bandwidth: 1e3}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, list := experiment(t), &faults.List{}
		Read("w.yaml", []byte(text), x, list)
		if list.Err() != nil {
			return
		}
		if _, err := simulator.Run(t.Context(), x, simulator.Options{}); err != nil {
			t.Errorf("an accepted file cannot be run: %v", err)
		}
	})
}
