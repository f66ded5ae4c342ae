package hostdisk

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// discover reads a recorded tree.
func discover(t *testing.T, tree string) *Inventory {
	t.Helper()
	found, err := Discover(os.DirFS("testdata/"+tree), Self)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDiscoverARecordedVirtualMachine(t *testing.T) {
	want := []Disk{{
		ID: "virtio-blk_overlayblk", Name: "vda", Number: Number{254, 0}, Vendor: "virtio", Model: "virtio-blk", Serial: "overlayblk",
		SizeBytes: 256 << 30, Rotational: true, MountPoints: []string{"/"},
	}}
	if diff := cmp.Diff(want, discover(t, "virtio").Disks); diff != "" {
		t.Errorf("disks (-want +got):\n%s", diff)
	}
}

func TestDiscoverAllKindsOfDisks(t *testing.T) {
	const big = 7814037168 * sectorBytes
	want := []Disk{
		{
			ID: "SD32G_0x1c2d3e4f", Name: "mmcblk0", Number: Number{179, 0}, Vendor: "MMC", Model: "SD32G", Serial: "0x1c2d3e4f",
			SizeBytes: 62333952 * sectorBytes,
		},
		{
			ID: "SSDPE2KX010T8_PHLJ1234000A1P0F", Name: "nvme0n1", Number: Number{259, 0},
			Vendor: "INTEL", Model: "SSDPE2KX010T8", Serial: "PHLJ1234000A1P0F", SizeBytes: 1953525168 * sectorBytes,
			Partitions: []Partition{
				{"nvme0n1p1", Number{259, 1}, 1048576 * sectorBytes}, {"nvme0n1p2", Number{259, 2}, 1952474112 * sectorBytes},
			},
			MountPoints: []string{"/", "/boot", "/srv/mapped"},
		},
		// Two namespaces of one disk share model and serial number.
		{ID: "SAMSUNG-X1_S1_nvme1n1", Name: "nvme1n1", Number: Number{259, 10}, Vendor: "NVMe", Model: "SAMSUNG-X1", Serial: "S1", SizeBytes: 1 << 20},
		{ID: "SAMSUNG-X1_S1_nvme1n2", Name: "nvme1n2", Number: Number{259, 11}, Vendor: "NVMe", Model: "SAMSUNG-X1", Serial: "S1", SizeBytes: 1 << 20},
		{
			ID: "ST4000NM0033-9ZM_Z1Z0AAAA", Name: "sda", Number: Number{8, 0}, Vendor: "ATA", Model: "ST4000NM0033-9ZM", Serial: "Z1Z0AAAA",
			SizeBytes: big, Rotational: true, Partitions: []Partition{{"sda1", Number{8, 1}, 7814035087 * sectorBytes}},
			MountPoints: []string{"/srv/big data"},
		},
		{
			ID: "ST4000NM0033-9ZM_Z1Z0BBBB", Name: "sdb", Number: Number{8, 16}, Vendor: "ATA", Model: "ST4000NM0033-9ZM", Serial: "Z1Z0BBBB",
			SizeBytes: big, Rotational: true, Partitions: []Partition{{"sdb1", Number{8, 17}, 7814035087 * sectorBytes}},
			MountPoints: []string{"/srv/big data"},
		},
		{ID: "sdc", Name: "sdc", Number: Number{8, 32}, Vendor: "unknown", Model: "unknown", SizeBytes: 512000},
		{
			ID: "xvdf", Name: "xvdf", Number: Number{202, 80}, Vendor: "Xen", Model: "xvd", SizeBytes: 100 << 30,
			MountPoints: []string{"/srv/snapshots"},
		},
	}
	if diff := cmp.Diff(want, discover(t, "baremetal").Disks); diff != "" {
		t.Errorf("disks (-want +got):\n%s", diff)
	}
}

func TestBehindFindsTheDisksOfAPath(t *testing.T) {
	found := discover(t, "baremetal")
	for _, tt := range []struct {
		name, path string
		want       []string
	}{
		{"through encryption and a logical volume", "/home/user", []string{"nvme0n1"}},
		{"the mount that covers another at the same place", "/var/lib/kubelet/pods", []string{"nvme0n1"}},
		{"a partition", "/boot", []string{"nvme0n1"}},
		{"a name that only begins like a mount point", "/mnt/nfs-not", []string{"nvme0n1"}},
		{"both disks of a mirror", "/srv/big data/x", []string{"sda", "sdb"}},
		{"a file system with a number of its own", "/srv/snapshots/../snapshots", []string{"xvdf"}},
		{"the network, though its path ends like a disk", "/mnt/nfs", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, disk := range found.Behind(tt.path) {
				got = append(got, disk.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Behind(%q) (-want +got):\n%s", tt.path, diff)
			}
		})
	}
}

func TestDiscoverTellsWhatIsMissing(t *testing.T) {
	if _, err := Discover(fstest.MapFS{}, Self); err == nil {
		t.Error("no error for a tree without sys/block")
	}
	if _, err := Discover(fstest.MapFS{"sys/block/vda/dev": {Data: []byte("254:0")}}, Self); err == nil {
		t.Error("no error for a tree without mountinfo")
	}
}

// A chain of devices that are made of each other cannot exist, and must not hang the agent if the kernel claims it.
func TestBehindEndsForDevicesMadeOfEachOther(t *testing.T) {
	found, err := Discover(fstest.MapFS{
		"sys/block/dm-0/dev":             {Data: []byte("253:0\n")},
		"sys/block/dm-0/size":            {Data: []byte("8\n")},
		"sys/block/dm-0/slaves/dm-1/dev": {},
		"sys/block/dm-1/dev":             {Data: []byte("253:1\n")},
		"sys/block/dm-1/size":            {Data: []byte("8\n")},
		"sys/block/dm-1/slaves/dm-0/dev": {},
		"proc/self/mountinfo":            {Data: []byte("1 0 253:0 / / rw - ext4 /dev/dm-0 rw\n")},
	}, Self)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Behind("/"); len(got) != 0 {
		t.Errorf("Behind() = %v, want no disk", got)
	}
}

// In a pod, the agent's own mounts are those of its container, and the first process's those of the host.
func TestDiscoverReadsTheMountsOfTheFirstProcess(t *testing.T) {
	found, err := Discover(fstest.MapFS{
		"sys/block/vda/dev":   {Data: []byte("254:0\n")},
		"sys/block/vda/size":  {Data: []byte("8\n")},
		"proc/self/mountinfo": {Data: []byte("1 0 0:9 / / rw - overlay overlay rw\n")},
		"proc/1/mountinfo":    {Data: []byte("1 0 254:0 / / rw - ext4 /dev/vda rw\n")},
	}, Init)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Behind("/var/lib"); len(got) != 1 || got[0].Name != "vda" {
		t.Errorf("Behind() = %v, want vda", got)
	}
}
