package diskprofile

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/fioprofile"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

// What a NodeDiskDevice takes.
const (
	maxDevices     = 256
	maxMountPoints = 64
	maxMountPoint  = 4096
)

// description is what is known of a machine's disks.
type description struct {
	// devices are those that can be reported, by identifier.
	devices map[string]diskiov1alpha1.DiskDevice
	// unknown are the disks of which nobody says what they can do.
	unknown []hostdisk.Disk
	// omitted is how many disks do not fit into a report.
	omitted int
	// defaultUnknown is the default disk if it is one of unknown.
	defaultUnknown *hostdisk.Disk
}

// source tells what a disk can do.
type source func(*hostdisk.Disk) (diskiov1alpha1.IOBandwidth, bool)

// describe asks the sources in their order.
func describe(inventory *hostdisk.Inventory, defaultPath string, sources ...source) description {
	byDefault := ""
	if behind := inventory.Behind(defaultPath); len(behind) > 0 {
		byDefault = behind[0].Name
	}
	d := description{devices: map[string]diskiov1alpha1.DiskDevice{}}
	for i := range inventory.Disks {
		disk := &inventory.Disks[i]
		capacity, ok := ask(disk, sources)
		switch {
		case !ok && disk.Name == byDefault:
			d.defaultUnknown = disk
			fallthrough
		case !ok:
			d.unknown = append(d.unknown, *disk)
			continue
		case len(d.devices) == maxDevices:
			d.omitted++
			continue
		}
		device := diskiov1alpha1.DiskDevice{
			Name: disk.Name, Vendor: disk.Vendor, Model: disk.Model, Type: diskiov1alpha1.DiskDeviceTypeOthers,
			MountPoints: mountPoints(disk.MountPoints), Capacity: capacity,
		}
		if disk.Name == byDefault {
			device.Type = diskiov1alpha1.DiskDeviceTypeEmptyDir
		}
		d.devices[disk.ID] = device
	}
	return d
}

func ask(disk *hostdisk.Disk, sources []source) (diskiov1alpha1.IOBandwidth, bool) {
	for _, of := range sources {
		if capacity, ok := of(disk); ok {
			return capacity, true
		}
	}
	return diskiov1alpha1.IOBandwidth{}, false
}

// inReport takes what an earlier report says of a disk, which is known by identifier, vendor and model.
func inReport(devices map[string]diskiov1alpha1.DiskDevice) source {
	return func(disk *hostdisk.Disk) (diskiov1alpha1.IOBandwidth, bool) {
		device, ok := devices[disk.ID]
		ok = ok && device.Vendor == disk.Vendor && device.Model == disk.Model && device.Capacity.Read.Sign() > 0 &&
			device.Capacity.Write.Sign() > 0 && device.Capacity.Total.Sign() > 0
		return device.Capacity, ok
	}
}

// measured takes what fio found out.
func measured(capacities map[string]fioprofile.Capacity) source {
	return func(disk *hostdisk.Disk) (diskiov1alpha1.IOBandwidth, bool) {
		c, ok := capacities[disk.ID]
		return diskiov1alpha1.IOBandwidth{
			Read: *resource.NewQuantity(c.Read, resource.BinarySI), Write: *resource.NewQuantity(c.Write, resource.BinarySI),
			Total: *resource.NewQuantity(c.Total, resource.BinarySI), ReadIOPS: c.ReadIOPS, WriteIOPS: c.WriteIOPS,
		}, ok
	}
}

// inTable takes the first entry that fits.
func inTable(table []configv1.DiskCapacity) source {
	return func(disk *hostdisk.Disk) (diskiov1alpha1.IOBandwidth, bool) { return capacityOf(disk, table) }
}

// capacityOf finds the first entry that fits.
func capacityOf(disk *hostdisk.Disk, table []configv1.DiskCapacity) (diskiov1alpha1.IOBandwidth, bool) {
	for i := range table {
		entry := &table[i]
		if (entry.Device == "" || entry.Device == disk.ID || entry.Device == disk.Name) &&
			(entry.Vendor == "" || strings.EqualFold(entry.Vendor, disk.Vendor)) &&
			(entry.Model == "" || strings.EqualFold(entry.Model, disk.Model)) {
			return diskiov1alpha1.IOBandwidth{
				Read: entry.Read, Write: entry.Write, Total: entry.Total, ReadIOPS: entry.ReadIOPS, WriteIOPS: entry.WriteIOPS,
			}, true
		}
	}
	return diskiov1alpha1.IOBandwidth{}, false
}

func mountPoints(all []string) []string {
	var fit []string
	for _, point := range all {
		if len(point) <= maxMountPoint && len(fit) < maxMountPoints {
			fit = append(fit, point)
		}
	}
	return fit
}
