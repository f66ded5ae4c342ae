package trace

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// Placement is what became of one pod in one run.
type Placement struct {
	// Node is "" while the pod is pending.
	Node string `json:"node,omitempty"`
	// Attempts is the number of the last attempt; Pending is the time from the first attempt, or from when the pod was
	// queued, to the binding.
	Attempts int           `json:"attempts"`
	Pending  time.Duration `json:"pendingNs,omitempty"`
	// Message is why the pod is not bound.
	Message string `json:"message,omitempty"`
}

// Run is what became of the pods of one run, by namespace/name: UIDs differ between runs.
type Run struct {
	Pods map[string]Placement
	// Victims is how many pods were preempted.
	Victims map[string]struct{}
}

// NewRun returns an empty run.
func NewRun() *Run { return &Run{Pods: map[string]Placement{}, Victims: map[string]struct{}{}} }

// Add takes a record. A later attempt of a pod stands for it; trials of pod groups do not count.
func (r *Run) Add(record *Record) {
	if record.Preemption != nil {
		for i := range record.Preemption.Victims {
			r.Victims[record.Preemption.Victims[i].UID] = struct{}{}
		}
	}
	name := record.Pod.Namespace + "/" + record.Pod.Name
	if record.Kind != KindAttempt || record.Tentative || record.Attempt < r.Pods[name].Attempts {
		return
	}
	p := Placement{Attempts: record.Attempt, Message: record.Message}
	if record.Outcome == OutcomeBound {
		begun := record.FirstAttempt
		if begun.IsZero() || !record.Queued.IsZero() && record.Queued.Before(begun) {
			begun = record.Queued
		}
		if begun.IsZero() {
			begun = record.Start
		}
		p.Node, p.Message, p.Pending = record.Node, "", max(0, record.End.Sub(begun))
	}
	r.Pods[name] = p
}

// Change is a pod that is somewhere else in another run.
type Change struct {
	Pod string `json:"pod"`
	// From and To are the placements; nil where the run does not have the pod.
	From *Placement `json:"from,omitempty"`
	To   *Placement `json:"to,omitempty"`
}

// Summary is about one run.
type Summary struct {
	Pods    int `json:"pods"`
	Bound   int `json:"bound"`
	Victims int `json:"victims"`
	// P50 and P99 are of the times that bound pods were pending.
	P50 time.Duration `json:"pendingP50Ns"`
	P99 time.Duration `json:"pendingP99Ns"`
	// Nodes is how many nodes pods were bound to, MostPods how many the fullest of them got.
	Nodes    int `json:"nodes"`
	MostPods int `json:"mostPods"`
}

// Difference is how two runs differ.
type Difference struct {
	From Summary `json:"from"`
	To   Summary `json:"to"`
	// Changes are sorted by pod.
	Changes []Change `json:"changes,omitempty"`
	Same    int      `json:"same"`
}

// Compare returns how two runs of the same workload differ: a change is another node, or bound instead of pending.
func Compare(from, to *Run) Difference {
	d := Difference{From: from.Summary(), To: to.Summary()}
	names := maps.Clone(from.Pods)
	maps.Copy(names, to.Pods)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inA := from.Pods[name]
		b, inB := to.Pods[name]
		if inA && inB && a.Node == b.Node {
			d.Same++
			continue
		}
		change := Change{Pod: name}
		if inA {
			change.From = &a
		}
		if inB {
			change.To = &b
		}
		d.Changes = append(d.Changes, change)
	}
	return d
}

// Summary counts.
func (r *Run) Summary() Summary {
	s := Summary{Pods: len(r.Pods), Victims: len(r.Victims)}
	byNode := map[string]int{}
	var pending []time.Duration
	for _, p := range r.Pods {
		if p.Node != "" {
			byNode[p.Node]++
			pending = append(pending, p.Pending)
		}
	}
	slices.SortFunc(pending, cmp.Compare)
	s.Bound, s.Nodes = len(pending), len(byNode)
	s.P50, s.P99 = percentile(pending, 0.50), percentile(pending, 0.99)
	for _, pods := range byNode {
		s.MostPods = max(s.MostPods, pods)
	}
	return s
}

// percentile is the nearest rank's: the smallest value that at least that share of all is not above. 0 for none.
func percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}
