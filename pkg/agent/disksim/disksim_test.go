package disksim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

func TestLoad(t *testing.T) {
	got, err := Load("testdata/disks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	of := func(read, write, total string) diskiov1alpha1.IOBandwidth {
		return diskiov1alpha1.IOBandwidth{Read: resource.MustParse(read), Write: resource.MustParse(write), Total: resource.MustParse(total)}
	}
	want := &Disks{
		Devices: map[string]diskiov1alpha1.DiskDevice{
			"fakeDevice": {Name: "fakeDevice", Vendor: "Intel", Model: "P4510", Type: "emptyDir", Capacity: of("1000Mi", "1000Mi", "2000Mi")},
			"slow":       {Name: "sdb", Type: "others", MountPoints: []string{"/srv/slow"}, Capacity: of("150Mi", "140Mi", "160Mi")},
		},
		Used: map[string]diskiov1alpha1.IOBandwidth{"fakeDevice": {Read: resource.MustParse("300Mi"), WriteIOPS: 20}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"a field that does not exist", "device: {}", `unknown field "device"`},
		{"no disks", "devices: {}", "expected at least one disk in devices, found none"},
		{"a disk without a name", "devices: {d1: {type: emptyDir}}", `disk "d1": expected a name, found none`},
		{"two disks of one name", "devices: {d1: {name: /dev/sda}, d2: {name: sda}}", `disks "d1" and "d2" are both called "sda"`},
		{"a type that does not exist", "devices: {d1: {name: sda, type: fast}}", `disk "d1": expected the type "emptyDir" or "others", found "fast"`},
		{"a negative capacity", "devices: {d1: {name: sda, capacity: {read: -1}}}", `disk "d1": expected capacities that are not negative`},
		{"a quantity that is none", "devices: {d1: {name: sda, capacity: {read: fast}}}", "quantities must match"},
		{"use of another disk", "devices: {d1: {name: sda}}\nused: {d2: {read: 1}}", `used names the disk "d2", which is not among devices`},
		{"far too long", strings.Repeat(" ", maxFileBytes+1), "expected at most 1048576 bytes, found 1048577"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "disks.yaml")
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(file); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error %v, want it to name the file and say %q", err, tt.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("no error for a file that is not there")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("devices: {d1: {name: sda, type: emptyDir, capacity: {read: 1Gi, write: 1Gi, total: 2Gi}}}\nused: {d1: {read: 1}}\n"))
	f.Add([]byte(`{"devices": {"": {"name": "/"}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		disks, err := Parse(content)
		if (err == nil) == (disks == nil) {
			t.Fatalf("both or neither of %v and %v", disks, err)
		}
	})
}
