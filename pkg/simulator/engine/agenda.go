package engine

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

type kind int

const (
	arrival kind = iota + 1
	departure
	nodeUp
	nodeDown
	retry
)

// event is something that is going to happen.
type event struct {
	at   time.Duration
	kind kind
	// pod is the index of a node where the event is about one.
	pod int
	// index is the event's number in the trace, for logs.
	index int
	// version is that of the job that a departure ends.
	version int
	// order resolves equal times.
	order int
}

// agenda holds what is going to happen. What the trace says is sorted once; only what comes up during the run goes
// through a heap.
type agenda struct {
	trace []event
	next  int
	later later
	order int
	// arrivals are the numbers of the pods' arrivals in their traces.
	arrivals []int
}

// fill takes the arrivals of the pods from first on, and their departures if those are fixed. At equal times the order
// is that of the pods, a pod's arrival before its departure; the sort is stable as the predecessor's is.
func (a *agenda) fill(pods []model.Pod, first int, departures bool) {
	a.trace, a.next = a.trace[:0], 0
	a.arrivals = append(a.arrivals[:first], make([]int, len(pods)-first)...)
	for i := first; i < len(pods); i++ {
		a.trace = append(a.trace, event{at: pods[i].Arrival, kind: arrival, pod: i})
		if departures && pods[i].Departure != 0 {
			a.trace = append(a.trace, event{at: pods[i].Departure, kind: departure, pod: i})
		}
	}
	slices.SortStableFunc(a.trace, func(x, y event) int { return cmp.Compare(x.at, y.at) })
	for i := range a.trace {
		a.trace[i].index = i
		if a.trace[i].kind == arrival {
			a.arrivals[a.trace[i].pod] = i
		}
	}
}

// push adds an event.
func (a *agenda) push(e event) {
	a.order++
	e.order = a.order
	heap.Push(&a.later, e)
}

// pop is the next event. What came up during the run goes first at equal times: it frees room, or is older.
func (a *agenda) pop() (event, bool) {
	fromTrace := a.next < len(a.trace)
	if len(a.later) > 0 && (!fromTrace || a.later[0].at <= a.trace[a.next].at) {
		e, ok := heap.Pop(&a.later).(event)
		return e, ok
	}
	if !fromTrace {
		return event{}, false
	}
	a.next++
	return a.trace[a.next-1], true
}

// later is a heap by time; departures come before retries, and of retries the pod that arrived first goes first: the
// order in which they were called depends on what woke them.
type later []event

func (l *later) Len() int { return len(*l) }

func (l *later) Less(i, j int) bool {
	x, y := &(*l)[i], &(*l)[j]
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.kind, y.kind),
		cmp.Compare(x.index, y.index), cmp.Compare(x.order, y.order)) < 0
}

func (l *later) Swap(i, j int) { (*l)[i], (*l)[j] = (*l)[j], (*l)[i] }

// Push and Pop are for container/heap.
func (l *later) Push(x any) {
	if e, ok := x.(event); ok {
		*l = append(*l, e)
	}
}

// Pop takes the last one off.
func (l *later) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
