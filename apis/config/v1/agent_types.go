package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AgentConfigurationKind is the kind of the agent's configuration file.
const AgentConfigurationKind = "AgentConfiguration"

// AgentAPIVersion is the apiVersion of the agent's configuration file.
const AgentAPIVersion = GroupName + "/v1"

// AgentConfiguration configures vicinity-agent, the process that measures its node. It is a file, the same on
// every node; what differs between nodes, such as the node's name, are flags.
//
// +kubebuilder:object:root=true
type AgentConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	// collectors lists the collectors that run, and how often. A collector that is not listed does not run, and
	// one that this build of the agent does not have is an error. The order has no meaning. What a collector
	// needs beyond its schedule stands in a section of its own beside this list. Default: none.
	Collectors []CollectorSchedule `json:"collectors,omitempty"`

	// datasets tells the collector of that name where cached datasets lie. Required if that collector is listed.
	Datasets DatasetsConfiguration `json:"datasets,omitzero"`

	// rtt tells the collector of that name what to measure. Every field has a default.
	RTT RTTConfiguration `json:"rtt,omitzero"`

	// hostRoot is a folder in which the proc and sys folders of the host are found, such as "/host" in a pod that has them
	// mounted there, absolute. The collectors diskstats and diskprofile then see what the host has mounted and which pods
	// run. Default: the agent's own /proc and /sys.
	HostRoot string `json:"hostRoot,omitempty"`

	// diskStats tells the collector diskstats how to average and when to report.
	DiskStats DiskStatsConfiguration `json:"diskStats,omitzero"`

	// diskProfile tells the collector diskprofile what the disks can do.
	DiskProfile DiskProfileConfiguration `json:"diskProfile,omitzero"`
}

// CollectorSchedule switches one collector on and tells how often it runs. The agent varies intervals by up to
// a tenth, so that the nodes of a cluster do not measure and report in step.
type CollectorSchedule struct {
	// name is the collector. Required, and listed once only.
	Name string `json:"name"`

	// interval is the time from the start of one round to the start of the next, "1s" to "24h". A round that
	// takes longer is never overtaken: the rounds that it missed are left out and counted. Default: "15s", for diskstats "1s".
	Interval metav1.Duration `json:"interval,omitzero"`

	// timeout is the time after which a round is cancelled, "100ms" up to interval.
	// Default: interval, but not more than "30s".
	Timeout metav1.Duration `json:"timeout,omitzero"`
}
