package disksim

import (
	"fmt"
	"os"

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
	disks := &Disks{}
	if err := yaml.UnmarshalStrict(content, disks); err != nil {
		return nil, fmt.Errorf("the simulated disks in %s: %w", path, err)
	}
	for id := range disks.Used {
		if _, ok := disks.Devices[id]; !ok {
			return nil, fmt.Errorf("the simulated disks in %s: used names the disk %q, which is not among devices", path, id)
		}
	}
	return disks, nil
}
