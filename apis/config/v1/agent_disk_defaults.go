package v1

import (
	"time"
)

const (
	defaultDiskStatsInterval    = time.Second
	defaultDiskStatsWindow      = 30
	defaultDiskProfileHeartbeat = 10 * time.Minute
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
	return c.DefaultDiskPath == "" && len(c.Capacities) == 0 && c.Heartbeat.Duration == 0
}
