package blockio

import (
	"testing"
	"time"
)

func TestDeviceBelievesFreshReportsOnly(t *testing.T) {
	now := time.Unix(1000, 0)
	disk := &Disk{HasMeasured: true}
	cases := map[string]struct {
		node *Node
		disk *Disk
		want ReportState
	}{
		"never measured":                     {node: &Node{}, disk: &Disk{}, want: NoReport},
		"measured by a driver without clock": {node: &Node{}, disk: disk, want: FreshReport},
		"measured a minute ago":              {node: &Node{ObservedAt: now.Add(-time.Minute)}, disk: disk, want: FreshReport},
		"measured an hour ago":               {node: &Node{ObservedAt: now.Add(-time.Hour)}, disk: disk, want: StaleReport},
		"measured in an hour":                {node: &Node{ObservedAt: now.Add(time.Hour)}, disk: disk, want: StaleReport},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.node.Device(tc.disk, now, 2*time.Minute).Report.State; got != tc.want {
				t.Errorf("state %d, want %d", got, tc.want)
			}
		})
	}
}

func TestDiskAt(t *testing.T) {
	n := &Node{Default: 0, Disks: []Disk{
		{ID: "root", Mounts: []string{"/"}}, {ID: "data", Mounts: []string{"/mnt/data", "/srv"}}, {ID: "deep", Mounts: []string{"/mnt/data/deep"}},
	}}
	for path, want := range map[string]int{
		"": 0, "/": 0, "/var/lib": 0, "/mnt/data": 1, "/mnt/data/x": 1, "/mnt/database": 0, "/srv/x": 1,
		"/mnt/data/deep/x": 2, "/mnt/data/deeper": 1,
	} {
		if got := n.DiskAt(path); got != want {
			t.Errorf("DiskAt(%q) = %d, want %d", path, got, want)
		}
	}
	unmarked := &Node{Default: -1, Disks: []Disk{{ID: "data", Mounts: []string{"/mnt"}}}}
	if unmarked.DiskAt("/mnt/x") != 0 || unmarked.DiskAt("/var") != -1 {
		t.Error("without a default disk: want the mounted one where it is mounted, and none elsewhere")
	}
}

func TestDefaultDisk(t *testing.T) {
	var none *Node
	if none.DefaultDisk() != nil || (&Node{Default: -1}).DefaultDisk() != nil || (&Node{}).DefaultDisk() != nil {
		t.Error("a default disk where there is none")
	}
	n := &Node{Disks: []Disk{{ID: "a"}, {ID: "b"}}, Default: 1}
	if got := n.DefaultDisk(); got == nil || got.ID != "b" {
		t.Errorf("default disk %v, want b", got)
	}
}
