package format

import (
	"slices"
	"strings"
)

// Scenario is one parsed scenario file.
type Scenario struct {
	// Plugin is the folder that holds the file, for instance cacheaware.
	Plugin string
	// Name is the file's name without its extension.
	Name string
	// Description is one sentence for people who list the scenarios.
	Description string
	// Profile is what differs from the scheduler's default profile.
	Profile Profile
	// CRDs are the sets of foreign CRDs that are present when the scenario starts, sorted.
	CRDs []string
	// Steps are done in order.
	Steps []Step
}

// Step is one thing that a scenario does.
type Step struct {
	// Verb is the name under which the step stands in the file.
	Verb string
	// Action does it.
	Action Action
}

// SharedCRDs are the sets of foreign CRDs that the shared cluster has, sorted. A scenario that names no sets gets these.
func SharedCRDs() []string { return []string{"datashim", "fluid"} }

// disturber is implemented by verbs that may change what other scenarios rely on.
type disturber interface{ disturbsCluster() bool }

// ID is "<plugin>/<name>", the name under which a scenario is selected and reported.
func (s *Scenario) ID() string { return s.Plugin + "/" + s.Name }

// Namespace is the scenario's own namespace, which the runner creates.
func (s *Scenario) Namespace() string { return strings.ToLower("scenario-" + s.Plugin + "-" + s.Name) }

// NeedsOwnCluster says whether the scenario changes what other scenarios rely on.
func (s *Scenario) NeedsOwnCluster() bool {
	if !slices.Equal(s.CRDs, SharedCRDs()) {
		return true
	}
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		d, ok := step.Action.(disturber)
		return ok && d.disturbsCluster()
	})
}

// Decisive returns the expectation whose pod, node and reason stand for the scenario: the one marked `decisive`, else
// the last one about pods, else the last one. Parse refuses scenarios that expect nothing.
func (s *Scenario) Decisive() *Expect {
	var last *Expect
	for _, step := range s.Steps {
		e, ok := step.Action.(*Expect)
		switch {
		case !ok:
		case e.Decisive:
			return e
		case last == nil || e.Metric == nil || last.Metric != nil:
			last = e
		}
	}
	return last
}
