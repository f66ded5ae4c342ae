package disksim

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

// maxFileBytes is far more than 256 disks take.
const maxFileBytes = 1 << 20

// Disks is the content of a file of simulated disks.
type Disks struct {
	// Devices are the disks by identifier, in the form of NodeDiskDevice's spec.devices.
	Devices map[string]diskiov1alpha1.DiskDevice `json:"devices"`
	// Used is what is measured as being used, by identifier. A disk that is not listed is idle.
	Used map[string]diskiov1alpha1.IOBandwidth `json:"used,omitempty"`
}

// Load reads a file, YAML or JSON.
func Load(path string) (*Disks, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the simulated disks: %w", err)
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("the simulated disks in %s: expected at most %d bytes, found %d", path, maxFileBytes, info.Size())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the simulated disks: %w", err)
	}
	disks, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("the simulated disks in %s: %w", path, err)
	}
	return disks, nil
}

// Parse reads the content of a file.
func Parse(content []byte) (*Disks, error) {
	disks := &Disks{}
	if err := yaml.UnmarshalStrict(content, disks); err != nil {
		return nil, err
	}
	if len(disks.Devices) == 0 {
		return nil, errors.New("expected at least one disk in devices, found none")
	}
	named := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(disks.Devices)) {
		device := disks.Devices[id]
		name := filepath.Base(device.Name)
		if err := check(&device); err != nil {
			return nil, fmt.Errorf("disk %q: %w", id, err)
		}
		if other, taken := named[name]; taken {
			return nil, fmt.Errorf("disks %q and %q are both called %q", other, id, name)
		}
		named[name] = id
	}
	for id := range disks.Used {
		if _, ok := disks.Devices[id]; !ok {
			return nil, fmt.Errorf("used names the disk %q, which is not among devices", id)
		}
	}
	return disks, nil
}

// check finds what the API server would refuse only when it is written, and what nothing would refuse.
func check(d *diskiov1alpha1.DiskDevice) error {
	c := d.Capacity
	switch {
	case d.Name == "":
		return errors.New("expected a name, found none")
	case d.Type != "" && d.Type != diskiov1alpha1.DiskDeviceTypeEmptyDir && d.Type != diskiov1alpha1.DiskDeviceTypeOthers:
		return fmt.Errorf("expected the type %q or %q, found %q",
			diskiov1alpha1.DiskDeviceTypeEmptyDir, diskiov1alpha1.DiskDeviceTypeOthers, d.Type)
	case c.Read.Sign() < 0 || c.Write.Sign() < 0 || c.Total.Sign() < 0 || c.ReadIOPS < 0 || c.WriteIOPS < 0:
		return errors.New("expected capacities that are not negative")
	}
	return nil
}
