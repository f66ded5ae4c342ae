package worldfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/worldfile"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

const example = `
datasets:
- {name: team/imagenet, size: 140Gi, nodes: [gpu-0]}
- {name: weights, size: 2Gi}
links:
  sameRack: {rtt: 100us, bandwidth: 1Gi}
  store: {rtt: 20ms, bandwidth: 100Mi}
disks:
- {nodes: "gpu-*", bandwidth: 2Gi}
- {bandwidth: 200Mi}
failures:
- {node: gpu-0, at: 1h, until: 90m}
pods:
- {match: "team/train-*", datasets: [imagenet, weights], disk: 100Mi}
- {match: "team/web", peers: [team/db]}
`

func experiment() *simulator.Experiment {
	return &simulator.Experiment{
		Cluster: model.Cluster{Nodes: []model.Node{{Name: "gpu-0"}, {Name: "cpu-0"}}},
		Pods: []model.Pod{
			{Namespace: "team", Name: "train-1"},
			{Namespace: "team", Name: "web"},
			{Namespace: "other", Name: "labelled", Source: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Labels:      map[string]string{"dataset.0.id": "weights", "dataset.0.useas": "mount"},
				Annotations: map[string]string{"blockio.kubernetes.io/resources": `{"rbps":"30Mi","wbps":"20Mi"}`},
			}}},
		},
	}
}

func TestApply(t *testing.T) {
	file, err := worldfile.Parse("world.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	x := experiment()
	if err := file.Apply(x); err != nil {
		t.Fatal(err)
	}
	want := model.World{
		Datasets: []model.Dataset{{Name: "team/imagenet", Bytes: 140 << 30, Nodes: []string{"gpu-0"}}, {Name: "weights", Bytes: 2 << 30}},
		Failures: []model.Failure{{Node: "gpu-0", At: time.Hour, Until: 90 * time.Minute}},
	}
	want.Links[model.SameRack] = model.Link{RTT: 100 * time.Microsecond, BytesPerSecond: 1 << 30}
	want.Links[model.Store] = model.Link{RTT: 20 * time.Millisecond, BytesPerSecond: 100 << 20}
	if diff := cmp.Diff(want, x.World); diff != "" {
		t.Errorf("world (-want +got):\n%s", diff)
	}
	if a, b := x.Cluster.Nodes[0].DiskBytesPerSecond, x.Cluster.Nodes[1].DiskBytesPerSecond; a != 2<<30 || b != 200<<20 {
		t.Errorf("disks do %d and %d, want 2Gi and 200Mi", a, b)
	}
	type needs struct {
		Datasets []string
		Disk     int64
		Peers    []string
	}
	var got []needs
	for i := range x.Pods {
		got = append(got, needs{x.Pods[i].Datasets, x.Pods[i].DiskBytesPerSecond, x.Pods[i].Peers})
	}
	wantNeeds := []needs{
		{Datasets: []string{"team/imagenet", "weights"}, Disk: 100 << 20},
		{Peers: []string{"team/db"}},
		{Datasets: []string{"weights"}, Disk: 50 << 20},
	}
	if diff := cmp.Diff(wantNeeds, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"not YAML", "datasets: [", "world.yaml: "},
		{"an unknown name", "datsets: []", `unknown field "datsets"`},
		{"a dataset without a name", "datasets: [{size: 1}]", "datasets[0].name: empty"},
		{"a negative size", "datasets: [{name: a, size: -1}]", "datasets[0].size is -1"},
		{"a huge size", "datasets: [{name: a, size: 9E}]", "datasets[0].size is 9E"},
		{"a size that is none", "datasets: [{name: a, size: big}]", "quantities must match"},
		{"a negative round trip", "links: {sameRack: {rtt: -1s}}", "links.same-rack.rtt is -1s"},
		{"a pattern that is none", `disks: [{nodes: "gpu-[", bandwidth: 1}]`, `disks[0].nodes is "gpu-["`},
		{"a failure before the start", "failures: [{node: a, at: -1s}]", "failures[0].at is -1s"},
		{"data that is not described", `pods: [{datasets: [x]}]`, `pod team/train-1 reads dataset "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := worldfile.Parse("world.yaml", []byte(c.text))
			if err == nil {
				err = file.Apply(experiment())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// FuzzParse reads anything and applies what it accepts.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("datasets: [{name: a, size: 1e3}]\npods: [{match: \"[\"}]")
	f.Add("links: {store: {rtt: 1ns, bandwidth: 1m}}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := worldfile.Parse("world.yaml", []byte(text))
		if err != nil {
			return
		}
		x := experiment()
		if err := file.Apply(x); err != nil {
			return
		}
		for i := range x.Pods {
			if x.Pods[i].DiskBytesPerSecond < 0 {
				t.Errorf("%d bytes per second", x.Pods[i].DiskBytesPerSecond)
			}
		}
	})
}
