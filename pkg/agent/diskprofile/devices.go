package diskprofile

import (
	"fmt"
	"io/fs"
	"strings"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
)

// What a NodeDiskDevice takes.
const (
	maxDevices     = 256
	maxMountPoints = 64
	maxMountPoint  = 4096
)

// describe returns the machine's disks of which the capacity is known, and the names of the others.
func describe(machine fs.FS, c *configv1.DiskProfileConfiguration) (
	devices map[string]diskiov1alpha1.DiskDevice, unknown []string, err error,
) {
	inventory, err := hostdisk.Discover(machine, hostdisk.Self)
	if err != nil {
		return nil, nil, err
	}
	byDefault := defaultDisk(machine, inventory, c.DefaultDiskPath)
	devices = map[string]diskiov1alpha1.DiskDevice{}
	for i := range inventory.Disks {
		disk := &inventory.Disks[i]
		capacity, ok := capacityOf(disk, c.Capacities)
		switch {
		case !ok && disk.Name == byDefault:
			return nil, []string{disk.Name}, fmt.Errorf("nobody says what the node's default disk %s can do: add an entry to "+
				"diskProfile.capacities with vendor %q and model %q, or with device %q", disk.Name, disk.Vendor, disk.Model, disk.ID)
		case !ok || len(devices) == maxDevices:
			unknown = append(unknown, disk.Name)
			continue
		}
		device := diskiov1alpha1.DiskDevice{
			Name: disk.Name, Vendor: disk.Vendor, Model: disk.Model, Type: diskiov1alpha1.DiskDeviceTypeOthers,
			MountPoints: mountPoints(disk.MountPoints), Capacity: capacity,
		}
		if disk.Name == byDefault {
			device.Type = diskiov1alpha1.DiskDeviceTypeEmptyDir
		}
		devices[disk.ID] = device
	}
	return devices, unknown, nil
}

// defaultDisk returns the name of the disk behind a path, or "/" where the machine does not have it; "" for none.
func defaultDisk(machine fs.FS, inventory *hostdisk.Inventory, path string) string {
	if _, err := fs.Stat(machine, strings.TrimPrefix(path, "/")); err != nil {
		path = "/"
	}
	if behind := inventory.Behind(path); len(behind) > 0 {
		return behind[0].Name
	}
	return ""
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
