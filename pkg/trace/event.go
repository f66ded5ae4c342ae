package trace

import "time"

// Event is one thing that happened to a pod or a node. Its JSON form is a line of the predecessor's log with UID and
// namespace added, so that either side's tools read the other's lines; the time is RFC 3339 here.
type Event struct {
	// Object is "Pod" or "Node".
	Object string `json:"object"`
	Name   string `json:"name"`
	// Namespace and UID are unknown in lines that the predecessor wrote.
	Namespace string `json:"namespace,omitempty"`
	UID       string `json:"uid,omitempty"`
	// Endpoint is who says it: "schedulePod", "bindingCycle", "podAdd", "podUpdate", "podDelete", "nodeAdd", "nodeUpdate",
	// "nodeDeleted", or what a lifecycle hook named its stage ("postStart", "preStop").
	Endpoint string `json:"endpoint,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Node     string `json:"node,omitempty"`
	// Event is "ScheduleSuccess", "BindingSuccess", a pod's phase, a condition that is true, or a hook's own word.
	Event string `json:"event,omitempty"`
	// Extra has more, for nodes "capacity-<resource>" and "allocatable-<resource>".
	Extra map[string]string `json:"extra,omitempty"`
	// Time is zero where the writer gave none.
	Time time.Time `json:"timestamp,omitzero"`
}
