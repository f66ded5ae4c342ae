package v1

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minCollectorInterval = time.Second
	maxCollectorInterval = 24 * time.Hour
	minCollectorTimeout  = 100 * time.Millisecond
)

// ValidateAgentConfiguration returns every fault of a defaulted configuration, as one error, or nil. The path is
// where the configuration stands, nil for a file of its own; available are the names of the collectors that this
// build of the agent has.
func ValidateAgentConfiguration(path *field.Path, c *AgentConfiguration, available []string) error {
	var faults field.ErrorList
	known, seen := sets.New(available...), sets.New[string]()
	for i := range c.Collectors {
		schedule, at := &c.Collectors[i], path.Child("collectors").Index(i)
		if fault := validateCollectorName(at.Child("name"), schedule.Name, known); fault != nil {
			faults = append(faults, fault)
		} else if seen.Has(schedule.Name) {
			faults = append(faults, field.Duplicate(at.Child("name"), schedule.Name))
		}
		seen.Insert(schedule.Name)
		faults = append(faults, validateCollectorTimes(at, schedule)...)
	}
	faults = append(faults, validateDatasets(path.Child("datasets"), &c.Datasets, seen.Has(DatasetsCollector))...)
	faults = append(faults, validateRTT(path.Child("rtt"), &c.RTT)...)
	if c.HostRoot != "" {
		faults = append(faults, validateFolder(path.Child("hostRoot"), c.HostRoot)...)
	}
	faults = append(faults, validateDiskStats(path.Child("diskStats"), &c.DiskStats)...)
	faults = append(faults, validateDiskProfile(path.Child("diskProfile"), &c.DiskProfile)...)
	return faults.ToAggregate()
}

func validateCollectorName(path *field.Path, name string, known sets.Set[string]) *field.Error {
	switch {
	case name == "":
		return field.Required(path, "name the collector to run")
	case known.Has(name):
		return nil
	}
	fault := field.NotSupported(path, name, sets.List(known))
	if known.Len() == 0 {
		fault.Detail = "this build of the agent has no collectors, remove the entry"
	}
	return fault
}

func validateCollectorTimes(path *field.Path, schedule *CollectorSchedule) field.ErrorList {
	var faults field.ErrorList
	interval, timeout := schedule.Interval.Duration, schedule.Timeout.Duration
	if interval < minCollectorInterval || interval > maxCollectorInterval {
		// The timeout is judged by the interval: against a wrong one it would be a second report of one fault.
		return append(faults, field.Invalid(path.Child("interval"), interval.String(),
			fmt.Sprintf("must be between %s and %s", minCollectorInterval, maxCollectorInterval)))
	}
	if timeout < minCollectorTimeout || timeout > interval {
		faults = append(faults, field.Invalid(path.Child("timeout"), timeout.String(),
			fmt.Sprintf("must be between %s and the interval, %s", minCollectorTimeout, interval)))
	}
	return faults
}
