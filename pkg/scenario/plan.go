package scenario

import (
	"maps"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// sharedName is the name of the shared cluster. Those with one scenario are named after it and have a slash.
const sharedName = "shared"

// job is the work of one cluster.
type job struct {
	// name is the cluster's name in progress lines.
	name string
	// crds are the sets of foreign CRDs that the cluster starts with.
	crds []string
	// scenarios are run in order; those with the same profile stand together.
	scenarios []*format.Scenario
}

// plan assigns scenarios to clusters: the shared one first, if any scenario can use it, then those with one scenario
// each.
func plan(scenarios []*format.Scenario) []job {
	shared := job{name: sharedName, crds: format.SharedCRDs()}
	var jobs []job
	for _, s := range scenarios {
		if s.NeedsOwnCluster() {
			jobs = append(jobs, job{name: s.ID(), crds: s.CRDs, scenarios: []*format.Scenario{s}})
			continue
		}
		shared.scenarios = append(shared.scenarios, s)
	}
	if len(shared.scenarios) == 0 {
		return jobs
	}
	// Stable: scenarios with one profile stay in the order in which they were chosen. The default profile sorts first.
	slices.SortStableFunc(shared.scenarios, func(a, b *format.Scenario) int { return strings.Compare(a.Profile.Key(), b.Profile.Key()) })
	return append([]job{shared}, jobs...)
}

// settings converts a profile, in the order of the plugins' names, so that a rendered configuration is reproducible.
func settings(p format.Profile) []localstack.PluginSetting {
	var settings []localstack.PluginSetting
	for _, name := range slices.Sorted(maps.Keys(p.Plugins)) {
		s := p.Plugins[name]
		settings = append(settings, localstack.PluginSetting{
			Name: name, Weight: s.Weight, Disabled: s.Disabled, Args: s.Args, Points: s.Points,
		})
	}
	return settings
}
