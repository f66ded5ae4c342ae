package diskprofile

import (
	"context"
	"errors"
	"io/fs"
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
	"github.com/vicinity-scheduler/vicinity/pkg/agent/fioprofile"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

// fakeStore keeps reports in memory.
type fakeStore struct {
	there  map[string]diskiov1alpha1.DiskDevice
	fails  error
	reads  int
	writes []diskiov1alpha1.NodeDiskDeviceSpec
}

func (s *fakeStore) Read(_ context.Context, into any) (bool, error) {
	s.reads++
	into.(*diskiov1alpha1.NodeDiskDevice).Spec.Devices = s.there
	return s.there != nil, s.fails
}

func (s *fakeStore) WriteSpec(_ context.Context, object any) error {
	if s.fails == nil {
		s.writes = append(s.writes, object.(*diskiov1alpha1.NodeDiskDevice).Spec)
	}
	return s.fails
}

func (s *fakeStore) Close() {}

func capacity(read, write string) configv1.DiskCapacity {
	return configv1.DiskCapacity{Read: resource.MustParse(read), Write: resource.MustParse(write)}
}

func newTestCollector(t *testing.T, root fs.FS, simulate string, store *fakeStore, table ...configv1.DiskCapacity) *Collector {
	t.Helper()
	config := &configv1.AgentConfiguration{
		Collectors:  []configv1.CollectorSchedule{{Name: Name}},
		DiskProfile: configv1.DiskProfileConfiguration{Capacities: table},
	}
	configv1.SetDefaults_AgentConfiguration(config)
	c, err := newCollector(&config.DiskProfile, "n1", machine{root, hostdisk.Self, root}, simulate, store, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestCollectorReportsARecordedMachine(t *testing.T) {
	hardDisk, solid, first := capacity("150Mi", "140Mi"), capacity("1000Mi", "800Mi"), capacity("1Mi", "2Mi")
	hardDisk.Vendor, hardDisk.Total = "ata", resource.MustParse("160Mi")
	solid.Vendor, solid.Model, solid.ReadIOPS, solid.WriteIOPS = "INTEL", "ssdpe2kx010t8", 500000, 90000
	first.Device = "sda"
	store := &fakeStore{}
	c := newTestCollector(t, os.DirFS("../hostdisk/testdata/baremetal"), "", store, first, hardDisk, solid)
	if err := c.Collect(t.Context(), start()); err != nil {
		t.Fatal(err)
	}
	of := func(name, vendor, model string, kind diskiov1alpha1.DiskDeviceType, read, write, total string, points ...string) diskiov1alpha1.DiskDevice {
		return diskiov1alpha1.DiskDevice{
			Name: name, Vendor: vendor, Model: model, Type: kind, MountPoints: points, Capacity: diskiov1alpha1.IOBandwidth{
				Read: resource.MustParse(read), Write: resource.MustParse(write), Total: resource.MustParse(total),
			},
		}
	}
	nvme := of("nvme0n1", "INTEL", "SSDPE2KX010T8", "emptyDir", "1000Mi", "800Mi", "1800Mi", "/", "/boot", "/srv/mapped")
	nvme.Capacity.ReadIOPS, nvme.Capacity.WriteIOPS = 500000, 90000
	want := []diskiov1alpha1.NodeDiskDeviceSpec{{NodeName: "n1", Devices: map[string]diskiov1alpha1.DiskDevice{
		"SSDPE2KX010T8_PHLJ1234000A1P0F": nvme,
		"ST4000NM0033-9ZM_Z1Z0AAAA":      of("sda", "ATA", "ST4000NM0033-9ZM", "others", "1Mi", "2Mi", "3Mi", "/srv/big data"),
		"ST4000NM0033-9ZM_Z1Z0BBBB":      of("sdb", "ATA", "ST4000NM0033-9ZM", "others", "150Mi", "140Mi", "160Mi", "/srv/big data"),
	}}}
	if diff := cmp.Diff(want, store.writes); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if got := testutil.ToFloat64(c.metrics.unknown); got != 5 {
		t.Errorf("%v disks of unknown capacity, want 5", got)
	}
}

func TestCollectorReportsOnlyNews(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disks.yaml")
	write := func(read string) {
		t.Helper()
		content := "devices: {fake: {name: fake, type: emptyDir, capacity: {read: " + read + ", write: 1000Mi, total: 2000Mi}}}\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := &fakeStore{}
	c := newTestCollector(t, nil, file, store)
	for _, step := range []struct {
		name   string
		at     time.Duration
		read   string
		fails  error
		writes int
	}{
		{"the first round reports", 0, "1000Mi", nil, 1},
		{"another spelling of the same is no news", 20 * time.Second, "1048576000", nil, 1},
		{"a change is reported", 40 * time.Second, "500Mi", nil, 2},
		{"but not twice in 15 s", 50 * time.Second, "400Mi", nil, 2},
		{"and then it is, unless the server is ill", 55 * time.Second, "400Mi", errors.New("the server is ill"), 2},
		{"which is tried again", 70 * time.Second, "400Mi", nil, 3},
		{"the heartbeat", 70*time.Second + 10*time.Minute, "400Mi", nil, 4},
	} {
		write(step.read)
		store.fails = step.fails
		if err := c.Collect(t.Context(), start().Add(step.at)); !errors.Is(err, step.fails) {
			t.Errorf("%s: %v, want %v", step.name, err, step.fails)
		}
		if len(store.writes) != step.writes {
			t.Errorf("%s: %d reports, want %d", step.name, len(store.writes), step.writes)
		}
	}
}

func TestCollectorRefusesToGuessTheDefaultDisk(t *testing.T) {
	store, other := &fakeStore{}, capacity("1", "1")
	other.Vendor = "ATA"
	err := newTestCollector(t, os.DirFS("../hostdisk/testdata/baremetal"), "", store, other).Collect(t.Context(), start())
	const want = `add an entry to diskProfile.capacities with vendor "INTEL" and model "SSDPE2KX010T8", or with device "SSDPE2KX010T8_PHLJ1234000A1P0F"`
	if err == nil || !strings.Contains(err.Error(), want) || len(store.writes) != 0 {
		t.Errorf("Collect() = %v, %d reports; want none and %q", err, len(store.writes), want)
	}
}

func TestCollectorKeepsWhatAnEarlierReportSays(t *testing.T) {
	const id = "virtio-blk_overlayblk"
	device := func(vendor, read string) diskiov1alpha1.DiskDevice {
		return diskiov1alpha1.DiskDevice{Name: "any", Vendor: vendor, Model: "virtio-blk", Capacity: diskiov1alpha1.IOBandwidth{
			Read: resource.MustParse(read), Write: resource.MustParse("2"), Total: resource.MustParse("3"), ReadIOPS: 4,
		}}
	}
	for _, tt := range []struct {
		name  string
		there map[string]diskiov1alpha1.DiskDevice
		table []configv1.DiskCapacity
		want  string // what the disk reads, or a part of the error
	}{
		{"of the disk", map[string]diskiov1alpha1.DiskDevice{id: device("virtio", "1")}, nil, "1"},
		{"unless the configuration says something else", map[string]diskiov1alpha1.DiskDevice{id: device("virtio", "1")}, []configv1.DiskCapacity{capacity("7", "8")}, "7"},
		{"but not of another disk", map[string]diskiov1alpha1.DiskDevice{id: device("Xen", "1")}, nil, "nobody says"},
		{"nor figures that are none", map[string]diskiov1alpha1.DiskDevice{id: device("virtio", "0")}, nil, "nobody says"},
		{"and none at all are none", nil, nil, "nobody says"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &fakeStore{there: tt.there}
			err := newTestCollector(t, os.DirFS("../hostdisk/testdata/virtio"), "", store, tt.table...).Collect(t.Context(), start())
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				return
			}
			if got := store.writes[0].Devices[id].Capacity.Read; got.String() != tt.want {
				t.Errorf("capacity of reading %s, want %s", got.String(), tt.want)
			}
		})
	}
}

func TestCollectorDoesNotForgetThatItCouldNotReadTheEarlierReport(t *testing.T) {
	store := &fakeStore{fails: errors.New("the server is ill")}
	c := newTestCollector(t, os.DirFS("../hostdisk/testdata/virtio"), "", store, capacity("7", "8"))
	for _, after := range []time.Duration{0, time.Second} {
		if err := c.Collect(t.Context(), start().Add(after)); !errors.Is(err, store.fails) {
			t.Errorf("Collect() = %v, want %v", err, store.fails)
		}
	}
	if store.reads != 1 {
		t.Errorf("%d requests within 15 s, want one", store.reads)
	}
	store.fails = nil
	if err := c.Collect(t.Context(), start().Add(15*time.Second)); err != nil || len(store.writes) != 1 {
		t.Errorf("Collect() = %v, %d reports; want one", err, len(store.writes))
	}
}

// Until the default disk is measured nothing is reported, because a node without a default disk is refused to pods.
func TestCollectorHasDisksMeasured(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "fio")
	script := `#!/bin/sh
for argument; do case $argument in --filename=*) truncate -s 16M "${argument#--filename=}" ;; esac; done
echo '{"jobs": [{"error": 0, "read": {"bw_bytes": 1048576000, "iops": 5000}, "write": {}}]}'
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{
		"sys/block/vda/dev": {Data: []byte("254:0\n")}, "sys/block/vda/size": {Data: []byte("1000\n")},
		"sys/block/vdb/dev": {Data: []byte("254:16\n")}, "sys/block/vdb/size": {Data: []byte("1000\n")},
		"proc/self/mountinfo": {Data: []byte("1 0 254:0 / / rw - ext4 /dev/vda rw\n")},
		"proc/diskstats":      {Data: []byte("254 0 vda 0 0 0 0 0 0 0 0 0 0 0\n")},
	}
	store := &fakeStore{}
	c := newTestCollector(t, tree, "", store)
	c.config.Fio.Folders = []string{folder, folder, "/proc/self"}
	c.fio = fioprofile.New(fioprofile.Options{
		Program: program, CacheFile: filepath.Join(folder, "disks.json"), FileSize: 16 << 20, StepTime: time.Second, TimeLimit: time.Minute,
		MaxBusy: .1, ObserveFor: time.Millisecond, Machine: tree,
		Count: func(o fioprofile.Outcome) { c.metrics.attempts.WithLabelValues(string(o)).Inc() },
	})
	now := start()
	for ; len(store.writes) == 0 && now.Before(start().Add(time.Hour)); now = now.Add(time.Second) {
		if err := c.Collect(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := resource.MustParse("1000Mi")
	want := []diskiov1alpha1.NodeDiskDeviceSpec{{NodeName: "n1", Devices: map[string]diskiov1alpha1.DiskDevice{"vda": {
		Name: "vda", Vendor: "virtio", Model: "virtio-blk", Type: "emptyDir", MountPoints: []string{"/"},
		Capacity: diskiov1alpha1.IOBandwidth{Read: all, Write: all, Total: all, ReadIOPS: 5000, WriteIOPS: 5000},
	}}}}
	if diff := cmp.Diff(want, store.writes); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if got := testutil.ToFloat64(c.metrics.attempts.WithLabelValues("done")); got != 1 || now == start().Add(time.Second) {
		t.Errorf("%v disks measured, reported in the first round: %t; want one, and later", got, now == start().Add(time.Second))
	}
}

// Whatever machine this runs on, its disks are reported, with the one behind the root folder as the default.
func TestIntegrationReportsTheDisksOfThisMachine(t *testing.T) {
	inventory, err := hostdisk.Discover(os.DirFS("/"), hostdisk.Self)
	if err != nil || len(inventory.Disks) == 0 {
		t.Skipf("this machine tells no disks (%v)", err)
	}
	store := &fakeStore{}
	if err := newTestCollector(t, os.DirFS("/"), "", store, capacity("1Gi", "1Gi")).Collect(t.Context(), start()); err != nil {
		t.Fatal(err)
	}
	reported, defaults := store.writes[0].Devices, 0
	for _, disk := range inventory.Disks {
		device, ok := reported[disk.ID]
		if !ok || device.Name != disk.Name {
			t.Errorf("disk %s is reported as %+v", disk.Name, device)
		}
		if device.Type == diskiov1alpha1.DiskDeviceTypeEmptyDir {
			defaults++
		}
	}
	if behind := inventory.Behind("/"); len(behind) > 0 && defaults != 1 {
		t.Errorf("%d default disks, want one", defaults)
	}
	t.Logf("reported %+v", reported)
}
