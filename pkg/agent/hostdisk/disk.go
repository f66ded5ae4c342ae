package hostdisk

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// sectorBytes is the unit of sizes and counters, whatever the disk's own sectors are.
const sectorBytes = 512

// Number is the device number by which the kernel knows a block device.
type Number struct {
	Major, Minor uint32
}

// parseNumber reads "8:1".
func parseNumber(text string) (Number, error) {
	major, minor, ok := strings.Cut(text, ":")
	a, errMajor := strconv.ParseUint(major, 10, 32)
	b, errMinor := strconv.ParseUint(minor, 10, 32)
	if !ok || errMajor != nil || errMinor != nil {
		return Number{}, fmt.Errorf("expected a device number such as 8:1, found %q", text)
	}
	return Number{uint32(a), uint32(b)}, nil
}

// Disk is a disk of the machine. The package comment says what counts as one.
type Disk struct {
	// ID is unique on the machine and stays with the disk.
	ID string
	// Name is what the kernel calls the disk, such as "sda". It may change when the machine starts anew.
	Name   string
	Number Number
	// Vendor and Model are never empty.
	Vendor, Model string
	// Serial is empty where the disk tells none.
	Serial string
	// SizeBytes is the size, above 0.
	SizeBytes int64
	// Rotational tells a hard disk from one without moving parts.
	Rotational bool
	// Partitions are ordered by name.
	Partitions []Partition
	// MountPoints are where file systems on the disk, its partitions or what is made of them are mounted, ordered. A folder
	// that is mounted a second time does not count.
	MountPoints []string
}

// Partition is a part of a disk.
type Partition struct {
	Name      string
	Number    Number
	SizeBytes int64
}

// Inventory is what disks a machine has and what is on them.
type Inventory struct {
	// Disks are ordered by name.
	Disks []Disk

	mounts []Mount
	graph  *graph
}

// Root is the machine's root folder, for functions that take one. Host is where the host's proc and sys folders are, empty
// for those of the process.
func Root(host string) fs.FS { return os.DirFS(cmp.Or(host, "/")) }

// MountsOf tells whose mounts are the machine's: with the host's proc folder at hand, those of its first process.
func MountsOf(host string) string {
	if host == "" {
		return Self
	}
	return Init
}

// Discover reads /sys/block and what is mounted for a process, which is Self or Init.
func Discover(root fs.FS, process string) (*Inventory, error) {
	entries, err := fs.ReadDir(root, "sys/block")
	if err != nil {
		return nil, fmt.Errorf("cannot list the disks of this machine: %w", err)
	}
	mounts, err := ReadMounts(root, process)
	if err != nil {
		return nil, err
	}
	found := &Inventory{mounts: mounts, graph: newGraph()}
	for _, entry := range entries {
		d, ok := readDevice(root, entry.Name())
		if !ok {
			continue
		}
		found.graph.add(d)
		if d.isDisk() {
			found.Disks = append(found.Disks, d.disk)
		}
	}
	slices.SortFunc(found.Disks, func(a, b Disk) int { return cmp.Compare(a.Name, b.Name) })
	nameDisks(found.Disks)
	found.addMountPoints()
	return found, nil
}

// Behind returns the disks that the file system of a path lies on, ordered by name: none for one in memory or on the
// network, several for a file system on a RAID or on several volumes. The path is absolute.
func (i *Inventory) Behind(file string) []Disk {
	mount, ok := mountOf(i.mounts, path.Clean(file))
	if !ok {
		return nil
	}
	names := i.graph.disksOf(mount)
	return slices.DeleteFunc(slices.Clone(i.Disks), func(d Disk) bool { return !slices.Contains(names, d.Name) })
}

func (i *Inventory) addMountPoints() {
	on := map[string][]string{}
	for _, mount := range i.mounts {
		if !mount.whole() {
			continue
		}
		for _, name := range i.graph.disksOf(mount) {
			on[name] = append(on[name], mount.Point)
		}
	}
	for at := range i.Disks {
		points := on[i.Disks[at].Name]
		slices.Sort(points)
		i.Disks[at].MountPoints = slices.Compact(points)
	}
}

// nameDisks gives each disk its ID.
func nameDisks(disks []Disk) {
	count := map[string]int{}
	for i := range disks {
		disks[i].ID = disks[i].Name
		if disks[i].Serial != "" {
			disks[i].ID = identifier(disks[i].Model + "_" + disks[i].Serial)
		}
		count[disks[i].ID]++
	}
	for i := range disks {
		if count[disks[i].ID] > 1 {
			disks[i].ID += "_" + disks[i].Name
		}
	}
}

// maxText keeps what hardware tells within what the fields of objects take.
const maxText = 100

// identifier makes a word of a text.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, text)
}
