package world

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// racks are two zones; the first has two racks of two nodes, the second one node; the last node has no labels.
func racks() *model.Cluster {
	node := func(name, zone, rack string) model.Node {
		return model.Node{Name: name, DiskBytesPerSecond: 100, Labels: map[string]string{
			"topology.kubernetes.io/zone": zone, "rack": rack,
		}}
	}
	return &model.Cluster{Nodes: []model.Node{
		node("a", "z1", "r0"), node("b", "z1", "r0"), node("c", "z1", "r1"), node("d", "z2", "r0"), {Name: "e"},
	}}
}

func links() [model.Distances]model.Link {
	return [model.Distances]model.Link{
		model.SameNode: {RTT: 10 * time.Microsecond}, model.SameRack: {RTT: 100 * time.Microsecond, BytesPerSecond: 1000},
		model.SameZone: {RTT: 500 * time.Microsecond, BytesPerSecond: 500}, model.OtherZone: {RTT: 2 * time.Millisecond, BytesPerSecond: 100},
		model.Store: {RTT: 20 * time.Millisecond, BytesPerSecond: 50},
	}
}

func newWorld(t *testing.T, spec model.World) *World {
	t.Helper()
	w, err := New(racks(), &spec)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestFetch(t *testing.T) {
	datasets := []model.Dataset{{Name: "on-a", Bytes: 1000, Nodes: []string{"a"}}, {Name: "nowhere", Bytes: 1000}}
	for _, c := range []struct {
		name  string
		node  int
		reads []string
		want  time.Duration
		from  [model.Distances]int64
	}{
		{"it is there", 0, []string{"on-a"}, 0, [model.Distances]int64{}},
		{"from the same rack: 1000 / 1000", 1, []string{"on-a"}, time.Second, [model.Distances]int64{model.SameRack: 1000}},
		{"from another rack: 1000 / 500", 2, []string{"on-a"}, 2 * time.Second, [model.Distances]int64{model.SameZone: 1000}},
		{"a rack of another zone is not near", 3, []string{"on-a"}, 10 * time.Second, [model.Distances]int64{model.OtherZone: 1000}},
		{"a node without labels is far from all", 4, []string{"on-a"}, 10 * time.Second, [model.Distances]int64{model.OtherZone: 1000}},
		{
			"one after the other: 1 + 20 s", 1,
			[]string{"on-a", "nowhere"},
			21 * time.Second,
			[model.Distances]int64{model.SameRack: 1000, model.Store: 1000},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, model.World{Datasets: datasets, Links: links()})
			took, from := w.Fetch(&model.Pod{Datasets: c.reads}, c.node)
			if took != c.want || from != c.from {
				t.Errorf("got %v and %v, want %v and %v", took, from, c.want, c.from)
			}
		})
	}
}

func TestDataStaysWhereItWasRead(t *testing.T) {
	w := newWorld(t, model.World{Datasets: []model.Dataset{{Name: "d", Bytes: 1000}}, Links: links()})
	pod := &model.Pod{Name: "p", Datasets: []string{"d"}}
	w.Place(pod, 1)
	w.Remove(pod, 1)
	var got []time.Duration
	for node := range racks().Nodes {
		took, _ := w.Fetch(pod, node)
		got = append(got, took)
	}
	want := []time.Duration{time.Second, 0, 2 * time.Second, 10 * time.Second, 10 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fetch times (-want +got):\n%s", diff)
	}
}

func TestDisk(t *testing.T) {
	w := newWorld(t, model.World{})
	busy := &model.Pod{Name: "p", DiskBytesPerSecond: 80}
	for i, want := range []float64{1, 0.625, 100.0 / 240} {
		w.Place(busy, 0)
		if got := w.Speed(0); got != want {
			t.Errorf("%d pods get %v of their speed, want %v", i+1, got, want)
		}
	}
	if got := w.DiskUse(0, 60); got != 3 {
		t.Errorf("300 of 100 are asked for, got %v", got)
	}
	if got := w.Speed(4); got != 1 || w.DiskUse(4, 1<<60) != 0 {
		t.Errorf("a disk without a limit gives %v of the speed, want all", got)
	}
	w.Remove(busy, 0)
	w.Remove(busy, 0)
	if got := w.Speed(0); got != 1 {
		t.Errorf("after two have left the last gets %v of its speed, want all", got)
	}
}

func TestPeers(t *testing.T) {
	w := newWorld(t, model.World{Links: links()})
	web := &model.Pod{Name: "web", Peers: []string{"/db", "/cache", "/absent"}}
	db, cache := &model.Pod{Name: "db"}, &model.Pod{Name: "cache"}
	w.Follow(web)
	if _, known := w.PeerRTT(web, 0); known {
		t.Error("there is a round trip to peers that do not run")
	}
	w.Place(db, 0)
	w.Place(cache, 2)
	// From b: to a in the same rack 100 us, to c in the same zone 500 us.
	if got, known := w.PeerRTT(web, 1); !known || got != 300*time.Microsecond {
		t.Errorf("got %v, want the mean of 100 and 500 us", got)
	}
	w.Remove(cache, 2)
	if got, _ := w.PeerRTT(web, 1); got != 100*time.Microsecond {
		t.Errorf("got %v, want 100 us when only the one in the same rack is left", got)
	}
}

func TestFaults(t *testing.T) {
	bad := links()
	bad[model.SameRack].BytesPerSecond = -1
	for _, c := range []struct {
		name string
		spec model.World
		want string
	}{
		{"a dataset twice", model.World{Datasets: []model.Dataset{{Name: "d"}, {Name: "d"}}}, "dataset 1"},
		{"a negative size", model.World{Datasets: []model.Dataset{{Name: "d", Bytes: -1}}}, "-1 bytes"},
		{"on no node of the cluster", model.World{Datasets: []model.Dataset{{Name: "d", Nodes: []string{"x"}}}}, `on node "x"`},
		{"a negative bandwidth", model.World{Links: bad}, "link same rack"},
		{"a failure of no node", model.World{Failures: []model.Failure{{Node: "x"}}}, `failure 0 is of node "x"`},
		{"a failure that ends first", model.World{Failures: []model.Failure{{Node: "a", At: 2, Until: 1}}}, "expected an end after the start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(racks(), &c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	w := newWorld(t, model.World{})
	if err := w.Check(&model.Pod{Datasets: []string{"d"}}); err == nil {
		t.Error("a pod may read what does not exist")
	}
	if err := w.Check(&model.Pod{DiskBytesPerSecond: -1}); err == nil {
		t.Error("a pod may ask for less than nothing of its disk")
	}
}
