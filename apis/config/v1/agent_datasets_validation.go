package v1

import (
	"fmt"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	maxDatasetRoots        = 32
	maxDatasetRootPath     = 1024
	minHeartbeat           = 15 * time.Second
	maxHeartbeat           = time.Hour
	maxMaxFilesPerSecond   = 1000000
	maxReportThreshold     = 100
	noRootsButCollectorSet = "the collector \"datasets\" needs the folders to count in: list at least one path with its medium"
	noRootsButSectionSet   = "list at least one path with its medium, or remove the section"
)

// validateDatasets judges the defaulted section. It may be absent unless its collector is enabled.
func validateDatasets(at *field.Path, c *DatasetsConfiguration, enabled bool) field.ErrorList {
	if len(c.Roots) == 0 {
		switch {
		case enabled:
			return field.ErrorList{field.Required(at.Child("roots"), noRootsButCollectorSet)}
		case c.ReportThresholdPercent != 0 || c.Heartbeat.Duration != 0 || c.MaxFilesPerSecond != 0:
			return field.ErrorList{field.Required(at.Child("roots"), noRootsButSectionSet)}
		}
		return nil
	}
	var faults field.ErrorList
	if len(c.Roots) > maxDatasetRoots {
		faults = append(faults, field.TooMany(at.Child("roots"), len(c.Roots), maxDatasetRoots))
	}
	for i := range c.Roots {
		faults = append(faults, validateDatasetRoot(at.Child("roots").Index(i), &c.Roots[i])...)
	}
	faults = append(faults, validateRootsApart(at.Child("roots"), c.Roots)...)
	return append(faults, validateDatasetNumbers(at, c)...)
}

func validateDatasetNumbers(at *field.Path, c *DatasetsConfiguration) field.ErrorList {
	var faults field.ErrorList
	if v := c.ReportThresholdPercent; v < 1 || v > maxReportThreshold {
		faults = append(faults, field.Invalid(at.Child("reportThresholdPercent"), v,
			fmt.Sprintf("must be between 1 and %d", maxReportThreshold)))
	}
	if v := c.Heartbeat.Duration; v < minHeartbeat || v > maxHeartbeat {
		faults = append(faults, field.Invalid(at.Child("heartbeat"), v.String(),
			fmt.Sprintf("must be between %s and %s", minHeartbeat, maxHeartbeat)))
	}
	if v := c.MaxFilesPerSecond; v < 1 || v > maxMaxFilesPerSecond {
		faults = append(faults, field.Invalid(at.Child("maxFilesPerSecond"), v,
			fmt.Sprintf("must be between 1 and %d", maxMaxFilesPerSecond)))
	}
	return faults
}

func validateDatasetRoot(at *field.Path, root *DatasetRoot) field.ErrorList {
	var faults field.ErrorList
	if fault := validateRootPath(at.Child("path"), root.Path); fault != nil {
		faults = append(faults, fault)
	}
	switch root.Medium {
	case vicinityv1alpha1.MediumMemory, vicinityv1alpha1.MediumSSD, vicinityv1alpha1.MediumHDD:
	case "":
		faults = append(faults, field.Required(at.Child("medium"), "say what the folder lies on: Memory, SSD or HDD"))
	default:
		faults = append(faults, field.NotSupported(at.Child("medium"), root.Medium, []vicinityv1alpha1.Medium{
			vicinityv1alpha1.MediumMemory, vicinityv1alpha1.MediumSSD, vicinityv1alpha1.MediumHDD,
		}))
	}
	if _, err := ParseDatasetLayout(root.Layout); err != nil {
		faults = append(faults, field.Invalid(at.Child("layout"), root.Layout, err.Error()))
	}
	return faults
}

func validateRootPath(at *field.Path, text string) *field.Error {
	switch {
	case text == "":
		return field.Required(at, "name the folder below which datasets lie")
	case len(text) > maxDatasetRootPath:
		return field.TooLong(at, "", maxDatasetRootPath)
	case strings.ContainsRune(text, 0):
		return field.Invalid(at, text, "must not contain a NUL character")
	case !path.IsAbs(text) || path.Clean(text) != text:
		return field.Invalid(at, text, `must be absolute, without "." or ".." segments and without doubled or trailing slashes`)
	case text == "/":
		return field.Invalid(at, text, "must be a folder made for datasets, not the whole file system")
	}
	return nil
}

// validateRootsApart keeps a file from being counted by two roots.
func validateRootsApart(at *field.Path, roots []DatasetRoot) field.ErrorList {
	var faults field.ErrorList
	for i := range roots {
		for j := range roots {
			inner, outer := roots[i].Path, roots[j].Path
			switch {
			case inner == "" || outer == "":
			case inner == outer && j < i:
				faults = append(faults, field.Duplicate(at.Index(i).Child("path"), inner))
			case strings.HasPrefix(inner, outer+"/"):
				faults = append(faults, field.Invalid(at.Index(i).Child("path"), inner,
					fmt.Sprintf("lies below roots[%d], %s, so that its files would count twice", j, outer)))
			}
		}
	}
	return faults
}
