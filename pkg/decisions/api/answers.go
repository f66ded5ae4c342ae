package api

import (
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/explain"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Problem says what is wrong with a question.
type Problem struct {
	Error string `json:"error"`
}

// Decision is a row of a list.
type Decision struct {
	ID        int64         `json:"id,string"`
	Session   string        `json:"session"`
	Sequence  uint64        `json:"seq"`
	Namespace string        `json:"namespace"`
	Pod       string        `json:"pod"`
	UID       string        `json:"uid"`
	Attempt   int           `json:"attempt"`
	Tentative bool          `json:"tentative,omitempty"`
	Profile   string        `json:"profile,omitempty"`
	Time      time.Time     `json:"time"`
	Outcome   trace.Outcome `json:"outcome"`
	Node      string        `json:"node,omitempty"`
	Found     trace.Found   `json:"found,omitempty"`
	Plugin    string        `json:"plugin,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Nodes     int           `json:"nodes"`
	Feasible  int           `json:"feasible"`
	// TookMs is how long the attempt took, QueuedMs how long the pod had waited for it.
	TookMs   float64 `json:"tookMs"`
	QueuedMs float64 `json:"queuedMs"`
}

// DecisionList is a page of a list.
type DecisionList struct {
	Items []Decision `json:"items"`
	// Next is what "after" must be for the next page; empty on the last.
	Next string `json:"next,omitempty"`
}

// Explained is a decision with its record and its words.
type Explained struct {
	Decision
	Record      *trace.Record       `json:"record"`
	Explanation explain.Explanation `json:"explanation"`
	// WhyNot answers the question about one node.
	WhyNot string `json:"whyNot,omitempty"`
}

// Pod is what is known of a pod.
type Pod struct {
	UID       string        `json:"uid"`
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	Owner     string        `json:"owner,omitempty"`
	Node      string        `json:"node,omitempty"`
	Phase     string        `json:"phase,omitempty"`
	Created   time.Time     `json:"created,omitzero"`
	Decided   time.Time     `json:"decided,omitzero"`
	Bound     time.Time     `json:"bound,omitzero"`
	Started   time.Time     `json:"started,omitzero"`
	Ended     time.Time     `json:"ended,omitzero"`
	Gone      bool          `json:"gone,omitempty"`
	Attempts  int           `json:"attempts"`
	Outcome   trace.Outcome `json:"outcome,omitempty"`
	Plugin    string        `json:"plugin,omitempty"`
	Reason    string        `json:"reason,omitempty"`
}

// PodHistory is a pod with its attempts, the last first, and what happened to it.
type PodHistory struct {
	Pod Pod `json:"pod"`
	// Namesakes are earlier and later pods of the name.
	Namesakes []Pod         `json:"namesakes,omitempty"`
	Attempts  []Explained   `json:"attempts"`
	Events    []trace.Event `json:"events"`
}

// PendingGroup is pods that wait for the same.
type PendingGroup struct {
	Plugin string    `json:"plugin"`
	Reason string    `json:"reason"`
	Pods   int       `json:"pods"`
	Oldest time.Time `json:"oldest,omitzero"`
	Sample []Pod     `json:"sample"`
	Advice []string  `json:"advice,omitempty"`
}

// PendingList is the groups, the largest first.
type PendingList struct {
	Items []PendingGroup `json:"items"`
}

// Occupancy is how many pods were on each node in each interval.
type Occupancy struct {
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Intervals int       `json:"intervals"`
	Nodes     []string  `json:"nodes"`
	// Cells are [node, interval, pods], by the indexes of both; cells without pods are left out.
	Cells [][3]int `json:"cells"`
	// Highest is the largest number of pods of a cell.
	Highest int `json:"highest"`
	// Truncated says that there were more pods than could be counted.
	Truncated bool `json:"truncated,omitempty"`
}

// PodList is pods.
type PodList struct {
	Items     []Pod `json:"items"`
	Truncated bool  `json:"truncated,omitempty"`
}

// Rate is what happened in a span of time.
type Rate struct {
	Time  time.Time               `json:"time"`
	Count map[trace.Outcome]int64 `json:"count"`
	// Milliseconds that attempts, and the waits before them, took.
	AttemptP50 float64 `json:"attemptP50Ms"`
	AttemptP99 float64 `json:"attemptP99Ms"`
	QueueP50   float64 `json:"queueP50Ms"`
	QueueP99   float64 `json:"queueP99Ms"`
}

// RateList is spans of equal length; those in which nothing happened are left out.
type RateList struct {
	StepSeconds int    `json:"stepSeconds"`
	Items       []Rate `json:"items"`
}

// Node is a node.
type Node struct {
	Name    string    `json:"name"`
	Zone    string    `json:"zone,omitempty"`
	Ready   bool      `json:"ready"`
	Added   time.Time `json:"added,omitzero"`
	Removed time.Time `json:"removed,omitzero"`
}

// NodeList is nodes.
type NodeList struct {
	Items []Node `json:"items"`
}

// NameList is names.
type NameList struct {
	Items []string `json:"items"`
	// All says that the caller may see all namespaces, also those that are not in the list.
	All bool `json:"all"`
}

// EventList is events, the newest first.
type EventList struct {
	Items []trace.Event `json:"items"`
}

// Session is one life of a scheduler.
type Session struct {
	Name      string    `json:"name"`
	Scheduler string    `json:"scheduler,omitempty"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Stored    uint64    `json:"stored"`
	// Missing records were dropped by the scheduler, or are still on their way.
	Missing uint64 `json:"missing"`
}

// SessionList is sessions, the latest first.
type SessionList struct {
	Items []Session `json:"items"`
}

// Delay is what one node has measured to another.
type Delay struct {
	From     string    `json:"from"`
	To       string    `json:"to"`
	P50Us    int64     `json:"p50Us"`
	P99Us    int64     `json:"p99Us"`
	LossPpm  int64     `json:"lossPpm"`
	Observed time.Time `json:"observed,omitzero"`
}

// DelayList is delays. Present is false where the cluster has no such objects.
type DelayList struct {
	Present bool    `json:"present"`
	Items   []Delay `json:"items"`
}

// Disk is a device of a node: what it can do and what is promised and used, in bytes a second.
type Disk struct {
	Node       string `json:"node"`
	Device     string `json:"device"`
	Total      int64  `json:"total"`
	TotalRead  int64  `json:"totalRead"`
	TotalWrite int64  `json:"totalWrite"`
	Free       int64  `json:"free"`
	FreeRead   int64  `json:"freeRead"`
	FreeWrite  int64  `json:"freeWrite"`
	// Known says whether the free bandwidth is reported.
	Known bool `json:"known"`
}

// DiskList is disks. Present is false where the cluster has no such objects.
type DiskList struct {
	Present bool   `json:"present"`
	Items   []Disk `json:"items"`
}
