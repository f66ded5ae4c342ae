package v1

import (
	"time"
)

const (
	defaultReportThresholdPercent = 5
	defaultHeartbeat              = time.Minute
	// A file system in memory or on SSD answers several hundred thousand lookups a second, and a busy disk a few
	// hundred: this is little work for the former, and the timeout bounds the latter.
	defaultMaxFilesPerSecond = 20000
	// DefaultDatasetLayout is the layout of a root that names none.
	DefaultDatasetLayout = "{namespace}/{dataset}"
)

// setDefaultsDatasets leaves a section without roots alone: it is either absent or wrong.
func setDefaultsDatasets(c *DatasetsConfiguration) {
	if len(c.Roots) == 0 {
		return
	}
	if c.ReportThresholdPercent == 0 {
		c.ReportThresholdPercent = defaultReportThresholdPercent
	}
	if c.Heartbeat.Duration == 0 {
		c.Heartbeat.Duration = defaultHeartbeat
	}
	if c.MaxFilesPerSecond == 0 {
		c.MaxFilesPerSecond = defaultMaxFilesPerSecond
	}
	for i := range c.Roots {
		if c.Roots[i].Layout == "" {
			c.Roots[i].Layout = DefaultDatasetLayout
		}
	}
}
