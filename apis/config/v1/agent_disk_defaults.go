package v1

import (
	"path"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	defaultDiskStatsInterval    = time.Second
	defaultDiskStatsWindow      = 30
	defaultDiskProfileHeartbeat = 10 * time.Minute
	defaultFioProgram           = "fio"
	defaultFioCacheFile         = "vicinity-disks.json"
	defaultFioFileSize          = 1 << 30
	defaultFioStepTime          = 10 * time.Second
	defaultFioTimeLimit         = 5 * time.Minute
	defaultFioMaxBusyPercent    = 10
	// DefaultDiskPath is the kubelet's folder, unless it was told another.
	DefaultDiskPath = "/var/lib/kubelet"
)

// setDefaultsDiskStats leaves a section alone that nobody needs.
func setDefaultsDiskStats(c *DiskStatsConfiguration, enabled bool) {
	if !enabled && c.absent() {
		return
	}
	if c.Window == 0 {
		c.Window = defaultDiskStatsWindow
	}
	if c.ReportThresholdPercent == 0 {
		c.ReportThresholdPercent = defaultReportThresholdPercent
	}
	if c.Heartbeat.Duration == 0 {
		c.Heartbeat.Duration = defaultHeartbeat
	}
}

// setDefaultsDiskProfile leaves a section alone that nobody needs.
func setDefaultsDiskProfile(c *DiskProfileConfiguration, enabled bool) {
	if !enabled && c.absent() {
		return
	}
	if c.DefaultDiskPath == "" {
		c.DefaultDiskPath = DefaultDiskPath
	}
	if c.Heartbeat.Duration == 0 {
		c.Heartbeat.Duration = defaultDiskProfileHeartbeat
	}
	setDefaultsFio(&c.Fio)
	for i := range c.Capacities {
		entry := &c.Capacities[i]
		if entry.Total.IsZero() {
			entry.Total = entry.Read.DeepCopy()
			entry.Total.Add(entry.Write)
		}
	}
}

func (c *DiskStatsConfiguration) absent() bool { return *c == DiskStatsConfiguration{} }

func (c *DiskProfileConfiguration) absent() bool {
	return c.DefaultDiskPath == "" && len(c.Capacities) == 0 && c.Heartbeat.Duration == 0 && c.Fio.absent()
}

// setDefaultsFio leaves a section alone that measures nothing.
func setDefaultsFio(c *FioConfiguration) {
	if c.absent() {
		return
	}
	if c.Program == "" {
		c.Program = defaultFioProgram
	}
	if c.CacheFile == "" && len(c.Folders) > 0 {
		c.CacheFile = path.Join(c.Folders[0], defaultFioCacheFile)
	}
	if c.FileSize.IsZero() {
		c.FileSize = *resource.NewQuantity(defaultFioFileSize, resource.BinarySI)
	}
	if c.StepTime.Duration == 0 {
		c.StepTime.Duration = defaultFioStepTime
	}
	if c.TimeLimit.Duration == 0 {
		c.TimeLimit.Duration = defaultFioTimeLimit
	}
	if c.MaxBusyPercent == 0 {
		c.MaxBusyPercent = defaultFioMaxBusyPercent
	}
}

func (c *FioConfiguration) absent() bool {
	return len(c.Folders) == 0 && c.Program == "" && c.CacheFile == "" && c.FileSize.IsZero() &&
		c.StepTime.Duration == 0 && c.TimeLimit.Duration == 0 && c.MaxBusyPercent == 0
}
