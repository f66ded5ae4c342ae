package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// version is that of pkg/trace's records.
const version = 1

// record is what is read of a line.
type record struct {
	Version  int    `json:"version"`
	Session  string `json:"session"`
	Sequence uint64 `json:"seq"`
	Kind     string `json:"kind"`
	Pod      struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"pod"`
	Start        time.Time `json:"start"`
	FirstAttempt time.Time `json:"firstAttempt"`
	Queued       time.Time `json:"queued"`
	Outcome      string    `json:"outcome"`
	Node         string    `json:"node"`
	Tentative    bool      `json:"tentative"`
}

// Decision is what was recorded of one pod.
type Decision struct {
	// Pod is namespace/name.
	Pod string
	// Arrival is when the pod came, since the first one of the trace.
	Arrival time.Duration
	// Node is where it was bound; empty if it was not.
	Node     string
	Attempts int

	arrived time.Time
}

// Gap is a run of numbers that a session lacks.
type Gap struct {
	Session string `json:"session"`
	// After is the last number before the gap, and Missing how many are not there.
	After   uint64 `json:"after"`
	Missing uint64 `json:"missing"`
}

// Trace is a file of records.
type Trace struct {
	// Decisions are one for each pod, in the order of arrival.
	Decisions []Decision
	Gaps      []Gap
	// Records counts attempts.
	Records int
}

// Parse reads a file. Faults go to list.
func Parse(file string, data []byte, list *faults.List) *Trace {
	p := parser{file: file, list: list, pods: map[string]*Decision{}, numbers: map[string][]uint64{}}
	for line := range bytes.Lines(data) {
		p.line++
		p.read(line)
	}
	return p.finish()
}

type parser struct {
	file    string
	line    int
	list    *faults.List
	trace   Trace
	order   []string
	pods    map[string]*Decision
	numbers map[string][]uint64
	session []string
}

func (p *parser) at(field string) faults.Position {
	return faults.Position{File: p.file, Line: p.line, Field: field}
}

func (p *parser) read(line []byte) {
	whole := bytes.HasSuffix(line, []byte("\n"))
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return
	}
	var r record
	switch err := json.Unmarshal(line, &r); {
	case err != nil && !whole:
		p.list.Warn(p.at(""), "the last line was cut off, ignored")
		return
	case err != nil:
		p.list.Add(p.at(""), "want a decision record as JSON: %v", err)
		return
	case r.Version != version:
		p.list.Add(p.at("version"), "want version %d, found %d", version, r.Version)
		return
	}
	p.count(&r)
	if r.Kind == "Attempt" && !r.Tentative {
		p.check(&r)
	}
}

// count notes the record's number in its session.
func (p *parser) count(r *record) {
	if p.numbers[r.Session] == nil {
		p.session = append(p.session, r.Session)
	}
	p.numbers[r.Session] = append(p.numbers[r.Session], r.Sequence)
}

func (p *parser) check(r *record) {
	switch {
	case r.Pod.Name == "" || r.Pod.Namespace == "":
		p.list.Add(p.at("pod"), "want namespace and name, found %q and %q", r.Pod.Namespace, r.Pod.Name)
	case r.Start.IsZero():
		p.list.Add(p.at("start"), "want a time, found none")
	default:
		p.attempt(r)
	}
}

func (p *parser) attempt(r *record) {
	p.trace.Records++
	key := r.Pod.Namespace + "/" + r.Pod.Name
	d := p.pods[key]
	if d == nil {
		d = &Decision{Pod: key, arrived: r.Start}
		p.pods[key] = d
		p.order = append(p.order, key)
	}
	for _, at := range []time.Time{r.Start, r.FirstAttempt, r.Queued} {
		if !at.IsZero() && at.Before(d.arrived) {
			d.arrived = at
		}
	}
	d.Attempts++
	if r.Outcome == "Bound" {
		d.Node = r.Node
	}
}

func (p *parser) finish() *Trace {
	var start time.Time
	for _, d := range p.pods {
		if start.IsZero() || d.arrived.Before(start) {
			start = d.arrived
		}
	}
	for _, key := range p.order {
		d := p.pods[key]
		d.Arrival = d.arrived.Sub(start)
		p.trace.Decisions = append(p.trace.Decisions, *d)
	}
	slices.SortStableFunc(p.trace.Decisions, func(a, b Decision) int { return a.arrived.Compare(b.arrived) })
	for _, session := range p.session {
		p.gaps(session)
	}
	return &p.trace
}

// gaps looks for missing numbers. Those before the first one are none: a file may begin anywhere.
func (p *parser) gaps(session string) {
	numbers := p.numbers[session]
	slices.Sort(numbers)
	for i := 1; i < len(numbers); i++ {
		if missing := numbers[i] - numbers[i-1]; missing > 1 {
			p.trace.Gaps = append(p.trace.Gaps, Gap{Session: session, After: numbers[i-1], Missing: missing - 1})
		}
	}
}

// Missing is how many decisions are not in the trace.
func (t *Trace) Missing() uint64 {
	var sum uint64
	for _, gap := range t.Gaps {
		sum += gap.Missing
	}
	return sum
}

// String says what there is.
func (t *Trace) String() string {
	return fmt.Sprintf("%d attempts of %d pods, %d missing in %d gaps", t.Records, len(t.Decisions), t.Missing(), len(t.Gaps))
}
