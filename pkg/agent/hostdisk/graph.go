package hostdisk

import (
	"path"
	"slices"
)

// graph tells which disks a block device is made of.
type graph struct {
	byNumber map[Number]string   // the name of a device or partition
	parts    map[string][]string // of a device: what it is made of; of a partition: its disk
	mapped   map[string]string   // from the name below /dev/mapper to the kernel's
	disks    map[string]bool
}

func newGraph() *graph {
	return &graph{
		byNumber: map[Number]string{}, parts: map[string][]string{}, mapped: map[string]string{}, disks: map[string]bool{},
	}
}

func (g *graph) add(d *device) {
	name := d.disk.Name
	g.byNumber[d.disk.Number] = name
	g.parts[name] = d.slaves
	g.disks[name] = d.isDisk()
	if d.mapped != "" {
		g.mapped[d.mapped] = name
	}
	for _, partition := range d.disk.Partitions {
		g.byNumber[partition.Number] = partition.Name
		g.parts[partition.Name] = []string{name}
	}
}

// start returns the block device that a mounted file system lies on directly.
func (g *graph) start(mount Mount) (string, bool) {
	if name, ok := g.byNumber[mount.Number]; ok {
		return name, true
	}
	// Some file systems, such as btrfs, have numbers of their own and tell the device as their source.
	folder, name := path.Dir(mount.Source), path.Base(mount.Source)
	switch folder {
	case "/dev":
		return name, true
	case "/dev/mapper":
		name, ok := g.mapped[name]
		return name, ok
	}
	return "", false
}

// disksOf returns the names of the disks that a mounted file system lies on, ordered.
func (g *graph) disksOf(mount Mount) []string {
	start, ok := g.start(mount)
	if !ok {
		return nil
	}
	var found []string
	seen := map[string]bool{}
	for queue := []string{start}; len(queue) > 0; {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if g.disks[name] {
			found = append(found, name)
		}
		queue = append(queue, g.parts[name]...)
	}
	slices.Sort(found)
	return found
}
