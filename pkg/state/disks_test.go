package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

const mib = 1 << 20

func diskObject(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const (
	devicesOfN1 = `{apiVersion: diskio.x-k8s.io/v1alpha1, kind: NodeDiskDevice, metadata: {name: a, namespace: ioi-system},
		spec: {nodeName: n1, devices: {
			b: {name: b, type: emptyDir, vendor: Intel, model: P4510, capacity: {read: 1000Mi, write: 500Mi, total: 1200Mi, readIOPS: 9}},
			a: {name: a, type: others, mountPoints: [/mnt], capacity: {read: 10Mi}},
			c: {name: c, type: emptyDir}}}}`
	statsOfN1 = `{apiVersion: diskio.x-k8s.io/v1alpha1, kind: NodeDiskIOStats, metadata: {name: a, namespace: ioi-system, generation: 3},
		spec: {nodeName: n1, reservedPods: [p1]},
		status: {observedGeneration: 3, observedAt: "2026-01-01T00:00:00Z",
			allocableBandwidth: {b: {read: 900Mi, write: 400Mi, total: 1100Mi}}, allocatableBandwidth: {a: {read: 5Mi}, b: {read: 1}},
			pressurePartsPerMillion: {a: 250000}}}`
)

// newTestDisks returns the source, and a State that reads it.
func newTestDisks() (*disks, *State) {
	d := newDisks(newMalformed())
	return d, &State{disks: d}
}

func bandwidth(read, write, total int64) blockio.Bandwidth {
	return blockio.Bandwidth{
		Read: blockio.BytesPerSecond(read * mib), Write: blockio.BytesPerSecond(write * mib), Total: blockio.BytesPerSecond(total * mib),
	}
}

func TestDisksOfANode(t *testing.T) {
	d, s := newTestDisks()
	d.resources()[0].set(diskObject(t, devicesOfN1))
	d.resources()[1].set(diskObject(t, statsOfN1))
	want := &blockio.Node{
		Default:    1, // of two the first by ID
		ObservedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Seen:       map[string]struct{}{"p1": {}},
		Disks: []blockio.Disk{
			{
				ID: "a", Mounts: []string{"/mnt"}, Capacity: blockio.Supply{Bandwidth: bandwidth(10, 0, 0)},
				Measured: blockio.Supply{Bandwidth: bandwidth(5, 0, 0)}, HasMeasured: true,
				Pressure: 0.25, HasPressure: true,
			},
			{
				ID: "b", Kind: blockio.Kind{Vendor: "Intel", Model: "P4510"},
				Capacity: blockio.Supply{Bandwidth: bandwidth(1000, 500, 1200), IOPS: blockio.IOPS{Read: 9}, HasIOPS: true},
				Measured: blockio.Supply{Bandwidth: bandwidth(900, 400, 1100)}, HasMeasured: true,
			},
			{ID: "c"},
		},
	}
	got := s.Disks("n1")
	if got != nil && !got.ObservedAt.IsZero() {
		got.ObservedAt = got.ObservedAt.UTC()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("disks (-want +got):\n%s", diff)
	}
	if kinds := s.DiskKinds(); len(kinds) != 2 {
		t.Errorf("kinds %v, want Intel P4510 and that without names", kinds)
	}
}

func TestReportOfAnOlderSpecDoesNotCount(t *testing.T) {
	d, s := newTestDisks()
	d.resources()[0].set(diskObject(t, devicesOfN1))
	stats := diskObject(t, statsOfN1)
	stats.SetGeneration(4)
	d.resources()[1].set(stats)
	for _, disk := range s.Disks("n1").Disks {
		if disk.HasMeasured {
			t.Errorf("disk %s: measured by a driver that had not seen the spec", disk.ID)
		}
	}
}

func TestObjectsThatGoOrMoveToAnotherNode(t *testing.T) {
	d, s := newTestDisks()
	var told []string
	s.OnDiskChange(func(node string) { told = append(told, node) })
	devices := d.resources()[0]
	devices.set(diskObject(t, devicesOfN1))
	moved := diskObject(t, devicesOfN1)
	if err := unstructured.SetNestedField(moved.Object, "n2", "spec", "nodeName"); err != nil {
		t.Fatal(err)
	}
	devices.set(moved)
	if s.Disks("n1") != nil || s.Disks("n2") == nil {
		t.Error("want the disks on n2 and none on n1")
	}
	devices.remove("ioi-system", "a")
	if s.Disks("n2") != nil || len(s.DiskKinds()) != 0 || len(d.nodes)+len(d.devices)+len(d.nodeOf) != 0 {
		t.Errorf("left behind: %v %v %v", d.nodes, d.devices, d.nodeOf)
	}
	if diff := cmp.Diff([]string{"n1", "n1", "n2", "n2"}, told); diff != "" {
		t.Errorf("changes told (-want +got):\n%s", diff)
	}
}

// TestDeviceThatDisappears: the report may still name it, and a device that nobody describes may be in a report.
func TestDeviceThatDisappears(t *testing.T) {
	d, s := newTestDisks()
	devices := diskObject(t, devicesOfN1)
	d.resources()[0].set(devices.DeepCopy())
	d.resources()[1].set(diskObject(t, statsOfN1))
	for _, id := range []string{"b", "c"} { // both default ones
		unstructured.RemoveNestedField(devices.Object, "spec", "devices", id)
	}
	d.resources()[0].set(devices)
	node := s.Disks("n1")
	if len(node.Disks) != 1 || node.Disks[0].ID != "a" || !node.Disks[0].HasMeasured || node.DefaultDisk() != nil {
		t.Errorf("disks %+v; want a with its report, and no default one", node)
	}
	if kinds := s.DiskKinds(); len(kinds) != 1 {
		t.Errorf("kinds %v, want that of a alone", kinds)
	}
}

func TestMalformedDisks(t *testing.T) {
	device := func(capacity string) string {
		return `{metadata: {name: a}, spec: {nodeName: n1, devices: {a: {name: a, type: emptyDir, capacity: ` + capacity + `}}}}`
	}
	cases := map[string]struct {
		text    string
		want    int64 // read capacity; -1: no node
		wantBad int
	}{
		"no node name":            {text: `{metadata: {name: a}, spec: {devices: {}}}`, want: -1, wantBad: 1},
		"devices is a list":       {text: `{metadata: {name: a}, spec: {nodeName: n1, devices: []}}`, want: -1, wantBad: 1},
		"a quantity that is none": {text: device(`{read: many}`), want: -1, wantBad: 1},
		"negative":                {text: device(`{read: "-5Mi"}`), want: 0, wantBad: 1},
		"beyond 64 bits":          {text: device(`{read: "99999999E"}`), want: maxBandwidth, wantBad: 1},
		"an exponent that would take seconds to read": {text: device(`{read: "1e-9999999", write: 1Mi}`), want: 0, wantBad: 1},
		"exa and an exponent of one digit are fine":   {text: device(`{read: "1e3", write: 0.5E}`), want: 1000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, s := newTestDisks()
			d.resources()[0].set(diskObject(t, tc.text))
			got := int64(-1)
			if node := s.Disks("n1"); node != nil {
				got = int64(node.Disks[0].Capacity.Bandwidth.Read)
			}
			if got != tc.want {
				t.Errorf("read capacity %d, want %d", got, tc.want)
			}
			if bad := testutil.ToFloat64(d.malformed.WithLabelValues(devicesResource)); bad != float64(tc.wantBad) {
				t.Errorf("%v faults counted, want %d", bad, tc.wantBad)
			}
		})
	}
}

// FuzzDisks: no object blocks or breaks the reader.
func FuzzDisks(f *testing.F) {
	f.Add([]byte(devicesOfN1))
	f.Add([]byte(statsOfN1))
	f.Add([]byte(`{metadata: {name: a}, spec: {nodeName: n1, devices: {a: {capacity: {read: "1e999999999"}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &u.Object); err != nil || u.Object == nil {
			return
		}
		d, _ := newTestDisks()
		d.resources()[0].set(u.DeepCopy())
		d.resources()[1].set(u)
		for _, node := range d.nodes {
			for _, disk := range node.Disks {
				if disk.Capacity.Bandwidth.Read < 0 || disk.Measured.Bandwidth.Total < 0 {
					t.Fatalf("negative bandwidth in %+v", disk)
				}
			}
		}
	})
}
