package diskstats

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/resource"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

// fakeObjects keeps the node's objects in memory.
type fakeObjects struct {
	devices    map[string]diskiov1alpha1.DiskDevice
	generation int64
	fails      error
	reads      int
	writes     []diskiov1alpha1.NodeDiskIOStatsStatus
	closed     bool
}

func (o *fakeObjects) Devices(context.Context) (*diskiov1alpha1.NodeDiskDeviceSpec, error) {
	o.reads++
	if o.devices == nil {
		return nil, nil
	}
	return &diskiov1alpha1.NodeDiskDeviceSpec{Devices: o.devices}, nil
}

func (o *fakeObjects) Generation(context.Context) (int64, error) { return o.generation, nil }

func (o *fakeObjects) Write(_ context.Context, status diskiov1alpha1.NodeDiskIOStatsStatus) error {
	if o.fails == nil {
		o.writes = append(o.writes, status)
	}
	return o.fails
}

func (o *fakeObjects) Close() { o.closed = true }

// last is what the latest report says of a disk: read/write/total in MiB per second, operations.
func (o *fakeObjects) last(disk string) string {
	if len(o.writes) == 0 {
		return ""
	}
	b, ok := o.writes[len(o.writes)-1].AllocableBandwidth[disk]
	if !ok {
		return "not reported"
	}
	const mi = 1 << 20
	return fmt.Sprintf("%d/%d/%d %d/%d", b.Read.Value()/mi, b.Write.Value()/mi, b.Total.Value()/mi, b.ReadIOPS, b.WriteIOPS)
}

func disk(name, read, write, total string) diskiov1alpha1.DiskDevice {
	return diskiov1alpha1.DiskDevice{Name: name, Type: diskiov1alpha1.DiskDeviceTypeEmptyDir, Capacity: diskiov1alpha1.IOBandwidth{
		Read: resource.MustParse(read), Write: resource.MustParse(write), Total: resource.MustParse(total),
	}}
}

func newTestCollector(t *testing.T, machine fs.FS, simulate string, store *fakeObjects, window int32) *Collector {
	t.Helper()
	config := &configv1.AgentConfiguration{
		Collectors: []configv1.CollectorSchedule{{Name: Name}}, DiskStats: configv1.DiskStatsConfiguration{Window: window},
	}
	configv1.SetDefaults_AgentConfiguration(config)
	c, err := newCollector(&config.DiskStats, machine, Options{Simulate: simulate}, store, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil || !store.closed {
			t.Errorf("Close() = %v, store closed: %t", err, store.closed)
		}
	})
	return c
}

// machine has one disk whose counters a test moves.
type machine struct {
	fstest.MapFS
	read, write, operations, busy int64 // bytes, operations in each direction, milliseconds
}

func newMachine() *machine {
	return &machine{MapFS: fstest.MapFS{
		"proc/pressure/io": {Data: []byte("some avg10=30.00 avg60=0 avg300=0 total=0\nfull avg10=5.00 avg60=0 avg300=0 total=0\n")},
	}}
}

// run lets the disk work for a second at so many MiB/s, and the collector do a round after it.
func (m *machine) run(readMi, writeMi int64) {
	m.read += readMi << 20
	m.write += writeMi << 20
	m.operations += 100
	m.busy += 200
	m.MapFS["proc/diskstats"] = &fstest.MapFile{Data: fmt.Appendf(nil, "254 0 vda %d 0 %d %d %d 0 %d %d 0 %d 0\n",
		m.operations, m.read/512, m.operations*2, m.operations, m.write/512, m.operations*4, m.busy)}
}

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestCollectorReportsWhatIsLeft(t *testing.T) {
	m, store := newMachine(), &fakeObjects{generation: 3, devices: map[string]diskiov1alpha1.DiskDevice{
		"d1": disk("vda", "1000Mi", "500Mi", "1200Mi"), "d2": disk("sdz", "1Mi", "1Mi", "1Mi"),
	}}
	limited := store.devices["d1"]
	limited.Capacity.ReadIOPS, limited.Capacity.WriteIOPS = 1000, 50
	store.devices["d1"] = limited
	c := newTestCollector(t, m, "", store, 10)
	second := 0
	run := func(seconds int, readMi, writeMi int64) {
		t.Helper()
		for range seconds {
			m.run(readMi, writeMi)
			if err := c.Collect(t.Context(), start().Add(time.Duration(second)*time.Second)); err != nil {
				t.Fatal(err)
			}
			second++
		}
	}
	steps := []struct {
		name               string
		seconds            int
		readMi, writeMi    int64
		generation, writes int
		want               string
	}{
		{"half a window has to be filled first", 5, 100, 50, 3, 0, ""},
		{"then it is reported; operations that are known stay so", 1, 100, 50, 3, 1, "900/450/1050 900/1"},
		{"nothing new within a heartbeat", 40, 101, 50, 3, 1, "900/450/1050 900/1"},
		{"the heartbeat tells of small changes", 30, 101, 50, 3, 2, "899/450/1049 900/1"},
		{"a new generation is answered within 15 s", 15, 101, 50, 4, 3, "899/450/1049 900/1"},
		{"a great change is reported, below 0 is 0", 30, 1500, 100, 4, 5, "0/400/0 900/1"},
	}
	for _, step := range steps {
		store.generation = int64(step.generation)
		run(step.seconds, step.readMi, step.writeMi)
		if got := store.last("d1"); got != step.want || len(store.writes) != step.writes {
			t.Fatalf("%s: %d reports, the last %q; want %d and %q", step.name, len(store.writes), got, step.writes, step.want)
		}
	}
	last := store.writes[len(store.writes)-1]
	if *last.ObservedGeneration != 4 || last.ObservedPods != nil || last.ObservedAt.Before(new(store.writes[0].ObservedAt)) {
		t.Errorf("report %+v, want generation 4, no pods, a later time", last)
	}
	// Busy for 20 % of the time, so that the pressure of 30 % cannot all be this disk's.
	if diff := cmp.Diff(map[string]int64{"d1": 200000}, last.PressurePartsPerMillion); diff != "" {
		t.Errorf("pressure (-want +got):\n%s", diff)
	}
	if got := store.last("d2"); got != "not reported" {
		t.Errorf("a disk that is not there: %s", got)
	}
}

// usePods lets pods have written so many MiB each since they started.
func (m *machine) usePods(writtenMi map[string]int64) {
	maps.DeleteFunc(m.MapFS, func(name string, _ *fstest.MapFile) bool { return strings.HasPrefix(name, "sys/fs/cgroup/") })
	for uid, mi := range writtenMi {
		m.MapFS["sys/fs/cgroup/kubepods/burstable/pod"+uid+"/io.stat"] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "254:0 rbytes=0 wbytes=%d rios=0 wios=%d dbytes=0 dios=0\n", mi<<20, mi),
		}
	}
}

func TestCollectorTellsWhatPodsDo(t *testing.T) {
	m, store := newMachine(), &fakeObjects{devices: map[string]diskiov1alpha1.DiskDevice{"d1": disk("vda", "1000Mi", "1000Mi", "2000Mi")}}
	c := newTestCollector(t, m, "", store, 10)
	for i := range int64(41) {
		pods := map[string]int64{"aaaaaaaa-1": 10 * i, "aaaaaaaa-2": 30 * i}
		switch {
		case i >= 38:
			pods["aaaaaaaa-3"] = 5 * i // has not been there for half of the window
		case i < 20:
			pods["aaaaaaaa-4"] = i // is gone
		}
		m.usePods(pods)
		m.run(0, 100)
		if err := c.Collect(t.Context(), start().Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if i == 35 {
			store.generation++
		}
	}
	last := store.writes[len(store.writes)-1]
	if diff := cmp.Diff([]string{"aaaaaaaa-1", "aaaaaaaa-2"}, last.ObservedPods); diff != "" || *last.ObservedGeneration != 1 {
		t.Errorf("pods of generation %d (-want +got):\n%s", *last.ObservedGeneration, diff)
	}
	// The pods that were there all the time write 10 + 30 MiB/s. The third was there in 2 of 10 steps: 5 MiB/s * 2 / 10.
	if got := testutil.ToFloat64(c.metrics.podBytes.WithLabelValues("vda", "write")); got != 41<<20 {
		t.Errorf("pods write %.0f bytes per second, want 41 MiB", got)
	}
	if got := testutil.ToFloat64(c.metrics.pods); got != 3 {
		t.Errorf("%v pods, want 3", got)
	}
	// Each second 100 operations of each direction end, reads after 2 ms and writes after 4 ms; the disk is busy for 200 ms.
	want := map[string]diskiov1alpha1.DiskUsage{"d1": {
		WriteBytesPerSecond: 100 << 20, ReadIOPS: 100, WriteIOPS: 100,
		ReadLatencyMicroseconds: 2000, WriteLatencyMicroseconds: 4000, BusyPartsPerMillion: 200000,
	}}
	if diff := cmp.Diff(want, last.Measured); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
}

func TestCollectorReportsDisksWithoutWhatItCannotRead(t *testing.T) {
	m, store := newMachine(), &fakeObjects{devices: map[string]diskiov1alpha1.DiskDevice{"d1": disk("vda", "1000Mi", "1000Mi", "2000Mi")}}
	m.MapFS["proc/pressure/io"] = &fstest.MapFile{Data: []byte("some avg10=much\n")}
	m.MapFS["sys/fs/cgroup/kubepods/podaaaaaaaa/io.stat"] = &fstest.MapFile{Data: []byte("254:0 rbytes=many\n")}
	c := newTestCollector(t, m, "", store, 2)
	for i := range 3 {
		m.run(100, 100)
		err := c.Collect(t.Context(), start().Add(time.Duration(i)*time.Second))
		for _, want := range []string{`found "much"`, "pod aaaaaaaa: io.stat"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Collect() = %v, want it to say %q", err, want)
			}
		}
	}
	if got := store.last("d1"); got != "900/900/1800 0/0" || store.writes[0].PressurePartsPerMillion != nil {
		t.Errorf("left %s, pressure %v, want the disk without pressure", got, store.writes[0].PressurePartsPerMillion)
	}
}

func TestCollectorSurvivesAReplacedDisk(t *testing.T) {
	m, store := newMachine(), &fakeObjects{devices: map[string]diskiov1alpha1.DiskDevice{"d1": disk("vda", "1000Mi", "1000Mi", "2000Mi")}}
	c := newTestCollector(t, m, "", store, 10)
	for i := range 10 {
		if i == 4 {
			m.read, m.write, m.operations, m.busy = 0, 0, 0, 0
		}
		m.run(100, 100)
		if err := c.Collect(t.Context(), start().Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if got := store.last("d1"); got != "900/900/1800 0/0" {
		t.Errorf("left %s, want the rate of the steps that went forward", got)
	}
}

func TestCollectorSaysWhatIsMissing(t *testing.T) {
	m, store := newMachine(), &fakeObjects{}
	c := newTestCollector(t, m, "", store, 2)
	round := func(second int) error {
		m.run(1, 1)
		return c.Collect(t.Context(), start().Add(time.Duration(second)*time.Second))
	}
	if err := errors.Join(round(0)); err != nil {
		t.Fatal(err)
	}
	const want = "switch on the collector diskprofile"
	for second := 1; second < 5; second++ {
		if err := round(second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Collect() = %v, want it to say %q", err, want)
		}
	}
	if store.reads != 1 {
		t.Errorf("%d requests in 5 s, want one in 15 s", store.reads)
	}
	store.devices = map[string]diskiov1alpha1.DiskDevice{"d1": disk("vda", "1Gi", "1Gi", "2Gi")}
	store.fails = errors.New("the server is ill")
	if err := round(20); err == nil || !strings.Contains(err.Error(), "the server is ill") {
		t.Errorf("Collect() = %v, want the server's error", err)
	}
	store.fails = nil
	if err := round(35); err != nil || len(store.writes) != 1 {
		t.Errorf("Collect() = %v, %d reports, want one", err, len(store.writes))
	}
	if err := newTestCollector(t, fstest.MapFS{}, "", &fakeObjects{}, 2).Collect(t.Context(), start()); err == nil {
		t.Error("no error without /proc/diskstats")
	}
}

func TestCollectorReportsSimulatedDisks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disks.yaml")
	write := func(used string) {
		t.Helper()
		content := "devices:\n  fake: {name: fake, vendor: Intel, model: P4510, type: emptyDir, capacity: {read: 1000Mi, write: 1000Mi, total: 2000Mi}}\n" + used
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := &fakeObjects{}
	c := newTestCollector(t, fstest.MapFS{}, file, store, 0)
	write("")
	if err := c.Collect(t.Context(), start()); err != nil || store.last("fake") != "1000/1000/2000 0/0" {
		t.Errorf("Collect() = %v, left %s", err, store.last("fake"))
	}
	write("used: {fake: {read: 900Mi, write: 2000Mi}}\n")
	if err := c.Collect(t.Context(), start().Add(15*time.Second)); err != nil || store.last("fake") != "100/0/0 0/0" {
		t.Errorf("Collect() = %v, left %s", err, store.last("fake"))
	}
	write("used: {other: {read: 1}}\n")
	if err := c.Collect(t.Context(), start().Add(30*time.Second)); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("Collect() = %v, want an error that names the disk", err)
	}
}
