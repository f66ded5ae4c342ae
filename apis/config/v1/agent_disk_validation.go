package v1

import (
	"fmt"
	"math"
	"path"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minDiskStatsWindow = 2
	maxDiskStatsWindow = 600
	maxDiskCapacities  = 256
	maxDiskText        = 253

	maxFioFolders   = 64
	minFioFileSize  = 16 << 20
	maxFioFileSize  = 64 << 30
	minFioStepTime  = time.Second
	maxFioStepTime  = time.Minute
	minFioTimeLimit = 10 * time.Second
	maxFioTimeLimit = time.Hour
	maxBusyPercent  = 100
)

// validateDiskStats judges the defaulted section. It may be absent unless its collector is enabled.
func validateDiskStats(at *field.Path, c *DiskStatsConfiguration) field.ErrorList {
	if c.absent() {
		return nil
	}
	var faults field.ErrorList
	if v := c.Window; v < minDiskStatsWindow || v > maxDiskStatsWindow {
		faults = append(faults, field.Invalid(at.Child("window"), v,
			fmt.Sprintf("must be between %d and %d", minDiskStatsWindow, maxDiskStatsWindow)))
	}
	if v := c.ReportThresholdPercent; v < 1 || v > maxReportThreshold {
		faults = append(faults, field.Invalid(at.Child("reportThresholdPercent"), v,
			fmt.Sprintf("must be between 1 and %d", maxReportThreshold)))
	}
	if v := c.Heartbeat.Duration; v < minHeartbeat || v > maxHeartbeat {
		faults = append(faults, field.Invalid(at.Child("heartbeat"), v.String(),
			fmt.Sprintf("must be between %s and %s", minHeartbeat, maxHeartbeat)))
	}
	return faults
}

// validateDiskProfile judges the defaulted section. It may be absent unless its collector is enabled.
func validateDiskProfile(at *field.Path, c *DiskProfileConfiguration) field.ErrorList {
	if c.absent() {
		return nil
	}
	var faults field.ErrorList
	faults = append(faults, validateFolder(at.Child("defaultDiskPath"), c.DefaultDiskPath)...)
	faults = append(faults, validateFio(at.Child("fio"), &c.Fio)...)
	if v := c.Heartbeat.Duration; v < minHeartbeat || v > maxHeartbeat {
		faults = append(faults, field.Invalid(at.Child("heartbeat"), v.String(),
			fmt.Sprintf("must be between %s and %s", minHeartbeat, maxHeartbeat)))
	}
	if len(c.Capacities) > maxDiskCapacities {
		return append(faults, field.TooMany(at.Child("capacities"), len(c.Capacities), maxDiskCapacities))
	}
	for i := range c.Capacities {
		faults = append(faults, validateDiskCapacity(at.Child("capacities").Index(i), &c.Capacities[i])...)
	}
	return faults
}

func validateDiskCapacity(at *field.Path, c *DiskCapacity) field.ErrorList {
	var faults field.ErrorList
	for name, text := range map[string]string{"device": c.Device, "vendor": c.Vendor, "model": c.Model} {
		if len(text) > maxDiskText {
			faults = append(faults, field.TooLong(at.Child(name), "", maxDiskText))
		}
	}
	for _, bandwidth := range []struct {
		name  string
		value resource.Quantity
	}{{"read", c.Read}, {"write", c.Write}, {"total", c.Total}} {
		switch v := bandwidth.value; {
		case v.IsZero() && bandwidth.name != "total":
			faults = append(faults, field.Required(at.Child(bandwidth.name), `say how many bytes per second, such as "500Mi"`))
		case v.Sign() < 0 || v.Cmp(*resource.NewQuantity(math.MaxInt64, resource.BinarySI)) >= 0:
			faults = append(faults, field.Invalid(at.Child(bandwidth.name), v.String(), "must be above 0 and fit into 63 bits"))
		}
	}
	if c.ReadIOPS < 0 {
		faults = append(faults, field.Invalid(at.Child("readIOPS"), c.ReadIOPS, "must not be negative"))
	}
	if c.WriteIOPS < 0 {
		faults = append(faults, field.Invalid(at.Child("writeIOPS"), c.WriteIOPS, "must not be negative"))
	}
	return faults
}

// validateFolder judges the path of a folder or file.
func validateFolder(at *field.Path, p string) field.ErrorList {
	if path.IsAbs(p) && path.Clean(p) == p && len(p) <= maxDatasetRootPath {
		return nil
	}
	return field.ErrorList{field.Invalid(at, p,
		fmt.Sprintf(`must be absolute, without "." or ".." segments, and at most %d bytes`, maxDatasetRootPath))}
}

// validateFio judges the defaulted section.
func validateFio(at *field.Path, c *FioConfiguration) field.ErrorList {
	switch {
	case c.absent():
		return nil
	case len(c.Folders) == 0:
		return field.ErrorList{field.Required(at.Child("folders"), "say on which disks, by a folder on each")}
	case len(c.Folders) > maxFioFolders:
		return field.ErrorList{field.TooMany(at.Child("folders"), len(c.Folders), maxFioFolders)}
	}
	var faults field.ErrorList
	for i, folder := range c.Folders {
		faults = append(faults, validateFolder(at.Child("folders").Index(i), folder)...)
	}
	faults = append(faults, validateFolder(at.Child("cacheFile"), c.CacheFile)...)
	return append(faults, validateFioBounds(at, c)...)
}

// validateFioBounds judges what keeps measurements from taking too much.
func validateFioBounds(at *field.Path, c *FioConfiguration) field.ErrorList {
	var faults field.ErrorList
	if size := c.FileSize; size.CmpInt64(minFioFileSize) < 0 || size.CmpInt64(maxFioFileSize) > 0 {
		faults = append(faults, field.Invalid(at.Child("fileSize"), size.String(), "must be between 16Mi and 64Gi"))
	}
	if v := c.StepTime.Duration; v < minFioStepTime || v > maxFioStepTime {
		faults = append(faults, field.Invalid(at.Child("stepTime"), v.String(),
			fmt.Sprintf("must be between %s and %s", minFioStepTime, maxFioStepTime)))
	}
	if v := c.TimeLimit.Duration; v < minFioTimeLimit || v > maxFioTimeLimit {
		faults = append(faults, field.Invalid(at.Child("timeLimit"), v.String(),
			fmt.Sprintf("must be between %s and %s", minFioTimeLimit, maxFioTimeLimit)))
	}
	if v := c.MaxBusyPercent; v < 1 || v > maxBusyPercent {
		faults = append(faults, field.Invalid(at.Child("maxBusyPercent"), v, fmt.Sprintf("must be between 1 and %d", maxBusyPercent)))
	}
	return faults
}
