package hostdisk

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadCountersOfARecordedMachine(t *testing.T) {
	found, err := ReadCounters(os.DirFS("testdata/virtio"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 10 {
		t.Errorf("%d devices, want 10", len(found))
	}
	if got := found["vda"]; got.Write.Bytes == 0 || got.Write.Operations == 0 || got.Write.Waited == 0 || got.Busy == 0 {
		t.Errorf("counters of vda %+v, want none of them 0", got)
	}
}

func TestParseCounters(t *testing.T) {
	// Kernels before 4.18 have eleven numbers, later ones fifteen or seventeen.
	const content = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n\n 259 0 nvme0n1 10 0 16 20 30 0 32 40 0 50 60 1 2 3 4 5 6\n"
	got, err := ParseCounters(content)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Counters{
		"sda": {
			Number: Number{8, 0},
			Read:   Transfers{1, 3 * 512, 4 * time.Millisecond},
			Write:  Transfers{5, 7 * 512, 8 * time.Millisecond}, Busy: 10 * time.Millisecond,
		},
		"nvme0n1": {
			Number: Number{259, 0},
			Read:   Transfers{10, 16 * 512, 20 * time.Millisecond},
			Write:  Transfers{30, 32 * 512, 40 * time.Millisecond}, Busy: 50 * time.Millisecond,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseCounters() (-want +got):\n%s", diff)
	}
}

func TestParsersQuoteWhatTheyCannotRead(t *testing.T) {
	counters := func(content string) error { _, err := ParseCounters(content); return err }
	mounts := func(content string) error { _, err := ParseMounts(content); return err }
	pressure := func(content string) error { _, err := ParsePressure(content); return err }
	for _, tt := range []struct {
		name  string
		parse func(string) error
		line  string
		want  string
	}{
		{"counters with too few fields", counters, "8 0 sda 1 2", `diskstats: line "8 0 sda 1 2": expected at least 14 fields, found 5`},
		{"counters of no device", counters, "8 x sda 1 2 3 4 5 6 7 8 9 10 11", `expected a device number such as 8:1, found "8:x"`},
		{"counters that are no numbers", counters, "8 0 sda 1 2 3 4 5 6 7 -8 9 10 11", "expected a number in field 11"},
		{"a mount with too few fields", mounts, "1 2 3:4", `mountinfo: line "1 2 3:4": expected at least 6 fields, found 3`},
		{"a mount without its second half", mounts, "1 2 3:4 / / rw shared:1", `expected "-", a type and a source`},
		{"a mount without a number", mounts, "1 2 3 / / rw - ext4 /dev/sda rw", `expected a device number such as 8:1, found "3"`},
		{"a share above all", pressure, "some avg10=101.00", `expected a percentage as avg10, found "101.00"`},
		{"a share that is not there", pressure, "full total=7", "expected a field avg10, found none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.parse(tt.line); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestReadPressure(t *testing.T) {
	got, ok, err := ReadPressure(os.DirFS("testdata/virtio"))
	if err != nil || !ok || got != (Pressure{Some: .0105, Full: .0052}) {
		t.Errorf("ReadPressure() = %+v, %t, %v, want the recorded shares", got, ok, err)
	}
	if _, ok, err := ReadPressure(fstest.MapFS{}); ok || err != nil {
		t.Errorf("a kernel that does not count pressure: %t, %v, want neither pressure nor an error", ok, err)
	}
}

func FuzzParseCounters(f *testing.F) {
	f.Add("   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n")
	f.Add("8 0 sda 18446744073709551615 2 18446744073709551615 18446744073709551615 5 6 7 8 9 10 11")
	f.Fuzz(func(t *testing.T, content string) {
		found, err := ParseCounters(content)
		if (err == nil) == (found == nil) {
			t.Fatalf("both or neither of %v and %v", found, err)
		}
		for name, counters := range found {
			if name == "" || counters.Read.Waited < 0 || counters.Write.Waited < 0 || counters.Busy < 0 {
				t.Fatalf("%q: %+v", name, counters)
			}
		}
	})
}

func FuzzParseMounts(f *testing.F) {
	f.Add("36 35 98:0 /mnt1 /mnt2\\040x rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n")
	f.Add("1 2 3:4 / / rw - - - -")
	f.Fuzz(func(t *testing.T, content string) {
		mounts, err := ParseMounts(content)
		if err != nil && mounts != nil {
			t.Fatalf("both %v and %v", mounts, err)
		}
		if mount, ok := mountOf(mounts, "/"); ok && mount.Point != "/" && mount.Point != "" {
			t.Fatalf("/ lies on %+v", mount)
		}
	})
}

func FuzzParsePressure(f *testing.F) {
	f.Add("some avg10=0.05 avg60=0.04 avg300=0.05 total=29822197\nfull avg10=0.02 avg60=0.02 avg300=0.00 total=9347337\n")
	f.Add("full avg10=NaN")
	f.Fuzz(func(t *testing.T, content string) {
		got, err := ParsePressure(content)
		if err == nil && (got.Some < 0 || got.Some > 1 || got.Full < 0 || got.Full > 1) {
			t.Fatalf("%+v is no share", got)
		}
	})
}

func FuzzDiscover(f *testing.F) {
	f.Add("8:0", "100", "INTEL X", "S1", "dm-0", "1 0 8:0 / / rw - ext4 /dev/sda rw")
	f.Add("8:0", "-1", "\x00\xff", "", "sda", "")
	f.Fuzz(func(t *testing.T, number, size, model, serial, mapped, mounts string) {
		tree := fstest.MapFS{
			"sys/block/nvme0n1/dev": {Data: []byte(number)}, "sys/block/nvme0n1/size": {Data: []byte(size)},
			"sys/block/nvme0n1/device/model":  {Data: []byte(model)},
			"sys/block/nvme0n1/device/serial": {Data: []byte(serial)},
			"sys/block/dm-0/dev":              {Data: []byte("253:0")}, "sys/block/dm-0/size": {Data: []byte(size)},
			"sys/block/dm-0/dm/name": {Data: []byte(mapped)},
			"proc/self/mountinfo":    {Data: []byte(mounts)},
		}
		found, err := Discover(tree, Self)
		if err != nil {
			return
		}
		for _, disk := range found.Disks {
			if disk.ID == "" || disk.Vendor == "" || disk.Model == "" || disk.SizeBytes <= 0 || identifier(disk.ID) != disk.ID {
				t.Fatalf("%+v", disk)
			}
		}
		found.Behind("/var/lib/kubelet")
	})
}
