package v1

import (
	"slices"
	"time"
)

const (
	// defaultCollectorInterval equals the shortest time between two writes of one object that the project
	// allows itself: measuring more often is only useful for a collector that averages.
	defaultCollectorInterval = 15 * time.Second

	// maxDefaultCollectorTimeout keeps a collector that hangs from going unnoticed for hours just because it
	// runs once a day.
	maxDefaultCollectorTimeout = 30 * time.Second
)

// SetDefaults_AgentConfiguration fills in what the administrator left out.
func SetDefaults_AgentConfiguration(c *AgentConfiguration) {
	c.APIVersion, c.Kind = AgentAPIVersion, AgentConfigurationKind
	for i := range c.Collectors {
		schedule := &c.Collectors[i]
		if schedule.Interval.Duration == 0 {
			schedule.Interval.Duration = defaultCollectorInterval
			if schedule.Name == DiskStatsCollector {
				schedule.Interval.Duration = defaultDiskStatsInterval
			}
		}
		if schedule.Timeout.Duration == 0 {
			schedule.Timeout.Duration = min(schedule.Interval.Duration, maxDefaultCollectorTimeout)
		}
	}
	setDefaultsDatasets(&c.Datasets)
	setDefaultsRTT(&c.RTT, c.lists(RTTCollector))
	setDefaultsDiskStats(&c.DiskStats, c.lists(DiskStatsCollector))
	setDefaultsDiskProfile(&c.DiskProfile, c.lists(DiskProfileCollector))
}

// lists tells whether a collector is switched on.
func (c *AgentConfiguration) lists(collector string) bool {
	return slices.ContainsFunc(c.Collectors, func(s CollectorSchedule) bool { return s.Name == collector })
}
