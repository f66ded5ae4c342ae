package scenario

import (
	"math"
	"time"
)

// Result says how a scenario ended. The JSON form is a contract with those who read `vicinity demo -o json`.
type Result struct {
	// Scenario is the scenario's ID, <plugin>/<name>.
	Scenario string `json:"scenario"`
	// Plugin is the scenario's folder.
	Plugin string `json:"plugin"`
	// Pod is the decisive pod, or a few pods' names; empty when the scenario ended before there was one.
	Pod string `json:"pod"`
	// Node is where the pod is; empty when it is on no node.
	Node string `json:"node"`
	// OK says whether everything was as expected.
	OK bool `json:"ok"`
	// Reason says why the pod is there, or what was expected and what was found instead.
	Reason string `json:"reason"`
	// Seconds is how long the steps took, without the cluster's start and the clean-up.
	Seconds float64 `json:"seconds"`
}

// roundSeconds keeps milliseconds; more digits are noise.
func roundSeconds(d time.Duration) float64 {
	return math.Round(d.Seconds()*1000) / 1000
}
