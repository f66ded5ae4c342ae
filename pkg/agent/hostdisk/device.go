package hostdisk

import (
	"cmp"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// device is an entry of /sys/block.
type device struct {
	disk Disk
	// hidden devices are parts of a multipath disk that cannot be used by themselves.
	hidden bool
	// mapped is the name of a device-mapper device below /dev/mapper.
	mapped string
	// slaves are the devices and partitions that this one is made of.
	slaves []string
	// composed says that the device is one of device-mapper or md, with slaves or without.
	composed bool
}

// readDevice reads one device. It returns false if that is gone, or is not what the kernel documents.
func readDevice(root fs.FS, name string) (*device, bool) {
	at := path.Join("sys/block", name)
	number, err := parseNumber(attribute(root, at, "dev"))
	size, ok := bytesOf(attribute(root, at, "size"))
	if err != nil || !ok {
		return nil, false
	}
	d := &device{
		hidden: attribute(root, at, "hidden") == "1",
		mapped: attribute(root, at, "dm/name"),
		slaves: names(root, path.Join(at, "slaves")),
	}
	d.composed = len(d.slaves) > 0 || d.mapped != "" || exists(root, path.Join(at, "md"))
	d.disk = Disk{
		Name: name, Number: number, SizeBytes: size, Rotational: attribute(root, at, "queue/rotational") == "1",
		Serial: cmp.Or(attribute(root, at, "serial"), attribute(root, at, "device/serial"), serialOfPage(root, at)),
	}
	d.disk.Vendor, d.disk.Model = kind(root, at, name)
	for _, part := range names(root, at) {
		if exists(root, path.Join(at, part, "partition")) {
			d.addPartition(root, path.Join(at, part), part)
		}
	}
	return d, true
}

func (d *device) addPartition(root fs.FS, at, name string) {
	number, err := parseNumber(attribute(root, at, "dev"))
	size, ok := bytesOf(attribute(root, at, "size"))
	if err == nil && ok {
		d.disk.Partitions = append(d.disk.Partitions, Partition{Name: name, Number: number, SizeBytes: size})
	}
}

// isDisk tells disks from what looks like one.
func (d *device) isDisk() bool {
	if d.hidden || d.composed || d.disk.SizeBytes == 0 {
		return false
	}
	family := strings.TrimRightFunc(d.disk.Name, unicode.IsDigit)
	return !slices.Contains([]string{"loop", "ram", "zram", "sr", "fd"}, family)
}

// kind returns the vendor and the model, as the package comment says.
func kind(root fs.FS, at, name string) (vendor, model string) {
	vendor, model = attribute(root, at, "device/vendor"), attribute(root, at, "device/model")
	switch {
	case strings.HasPrefix(name, "vd"):
		return "virtio", "virtio-blk" // the vendor is the number of a PCI device
	case strings.HasPrefix(name, "xvd"):
		return "Xen", "xvd"
	case strings.HasPrefix(name, "mmcblk"):
		return "MMC", cmp.Or(attribute(root, at, "device/name"), "unknown")
	case strings.HasPrefix(name, "nvme"):
		if first, rest, several := strings.Cut(model, " "); several {
			return first, strings.TrimSpace(rest)
		}
		return "NVMe", cmp.Or(model, "unknown")
	}
	return cmp.Or(vendor, "unknown"), cmp.Or(model, "unknown")
}

// serialOfPage reads the serial number from the page of "vital product data" that SCSI and SATA disks have for it: four
// bytes of header, then the number.
func serialOfPage(root fs.FS, at string) string {
	const header = 4
	page, err := fs.ReadFile(root, path.Join(at, "device/vpd_pg80"))
	if err != nil || len(page) <= header {
		return ""
	}
	return printable(string(page[header:]))
}

// attribute reads a file of sysfs; a file that is not there is an empty one.
func attribute(root fs.FS, at, name string) string {
	content, err := fs.ReadFile(root, path.Join(at, name))
	if err != nil {
		return ""
	}
	return printable(string(content))
}

// printable drops what hardware pads its texts with.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text[:min(len(text), maxText)])
}

// bytesOf turns a number of sectors into bytes.
func bytesOf(sectors string) (int64, bool) {
	n, err := strconv.ParseInt(sectors, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/sectorBytes {
		return 0, false
	}
	return n * sectorBytes, true
}

// names lists a folder; one that is not there is an empty one.
func names(root fs.FS, at string) []string {
	entries, err := fs.ReadDir(root, at)
	if err != nil {
		return nil
	}
	found := make([]string, 0, len(entries))
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

func exists(root fs.FS, at string) bool {
	_, err := fs.Stat(root, at)
	return err == nil
}
