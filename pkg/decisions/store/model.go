package store

import (
	"math"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	// maxAhead is how far a scheduler's clock may be ahead of ours before its times are not used for order.
	maxAhead = 5 * time.Minute
	// open is the end of what has not ended.
	open int64 = math.MaxInt64
)

// Decision is a record and its bytes on the wire, which may hold more than this version's record does.
type Decision struct {
	Record  *trace.Record
	Payload []byte
}

// Saved says what became of a batch.
type Saved struct {
	// Inserted are new, Duplicates were stored before.
	Inserted, Duplicates int
}

// Row is what lists show of a decision.
type Row struct {
	ID        int64
	Session   string
	Sequence  uint64
	Kind      trace.Kind
	Namespace string
	Pod       string
	PodUID    string
	Attempt   int
	Tentative bool
	Profile   string
	// At orders decisions; see the package comment.
	At time.Time
	// Received is when the service got it.
	Received time.Time
	// Took is how long the attempt took, QueueWait how long the pod waited for it.
	Took, QueueWait time.Duration
	Outcome         trace.Outcome
	Node            string
	Found           trace.Found
	// Plugin and Reason tell what stood in the way first.
	Plugin, Reason string
	// Nodes is how many nodes there were, Feasible how many passed.
	Nodes, Feasible int
	// Payload is the record in protobuf, where it was asked for.
	Payload []byte
}

// Cursor is a place between two decisions of a list: after the one with this time and number.
type Cursor struct {
	At, ID int64
}

// Filter says which decisions a list has. Zero values do not filter.
type Filter struct {
	// Namespaces, if not nil, are the only ones. Nil stands for all; empty for none.
	Namespaces []string
	// Pod, Node and the others must be equal.
	Pod, PodUID, Node, Profile, Plugin string
	Outcome                            trace.Outcome
	// Since is included, Until is not.
	Since, Until time.Time
	// After continues a list after its last row.
	After *Cursor
	// Limit is how many rows at most, from 1.
	Limit int
}

// Pod is what is known of a pod. Zero times are not known.
type Pod struct {
	UID       string
	Namespace string
	Name      string
	// Owner is "Kind/name" of the controller.
	Owner string
	Node  string
	Phase string
	// Created is when the API server got it, Decided when a node had been found for it, Bound when it was bound, Started
	// when its first container ran, Ended when its last one stopped or the pod was deleted.
	Created, Decided, Bound, Started, Ended time.Time
	// Gone means that the pod was deleted.
	Gone     bool
	Attempts int
	// LastAt is the time of the last attempt that is known; Outcome, Plugin and Reason are of that attempt.
	LastAt         time.Time
	Outcome        trace.Outcome
	Plugin, Reason string
}

// Node is what is known of a node. A zero Removed means that it is still there.
type Node struct {
	UID, Name, Zone string
	Ready           bool
	Added, Removed  time.Time
}

// Event is something that happened to a pod or a node.
type Event struct {
	trace.Event
	// Identity is the same for the same event, whoever tells it.
	Identity string
	// ID is the number of a stored event.
	ID int64
}

// PendingGroup is what pods that have no node are waiting for.
type PendingGroup struct {
	Plugin, Reason string
	// Pods is how many there are, Oldest since when the longest has been waiting, where that is known.
	Pods   int
	Oldest time.Time
	// Sample has some of them, those first that have waited longest.
	Sample []Pod
}

// Rate is what happened in a span of time.
type Rate struct {
	At time.Time
	// Count is by outcome.
	Count map[trace.Outcome]int64
	// Attempt and Queue are histograms of how long attempts, and the waits before them, took.
	Attempt, Queue Histogram
}

// Session is one life of a scheduler.
type Session struct {
	Name, Scheduler string
	First, Last     time.Time
	// Highest is the highest sequence, Stored how many records have come: what is missing was dropped or is on its way.
	Highest, Stored uint64
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 || n == open {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// orderTime is the time by which a record is ordered.
func orderTime(r *trace.Record, now time.Time) int64 {
	at := r.End
	if at.IsZero() {
		at = r.Start
	}
	// Years that nanoseconds cannot express come out as anything.
	if at.IsZero() || at.After(now.Add(maxAhead)) || at.Year() < 1970 {
		at = now
	}
	return at.UnixNano()
}
