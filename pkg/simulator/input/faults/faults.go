package faults

import (
	"fmt"
	"strconv"
	"strings"
)

// Position is a place in a file.
type Position struct {
	// File is a path as the user wrote it.
	File string
	// Line counts from 1; 0 is unknown.
	Line int
	// Field is the path of a field, such as spec.containers[0].name, or a column; empty for a file or row as a whole.
	Field string
}

// String is "file:line: field", without what is unknown.
func (p Position) String() string {
	text := p.File
	if p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line)
	}
	if p.Field != "" {
		text += ": " + p.Field
	}
	return text
}

// Fault is one thing that is wrong with an input.
type Fault struct {
	Position
	// Text says what was expected, what was found and what to do.
	Text string
}

// String is what a user reads.
func (f *Fault) String() string {
	if at := f.Position.String(); at != "" {
		return at + ": " + f.Text
	}
	return f.Text
}

// Bounds of what is kept; the rest is counted.
const (
	mostFaults   = 20
	mostWarnings = 50
)

// List collects faults and warnings. The zero value is ready. It is not safe for concurrent use: readers that work in
// parallel have one each and Merge them in order.
type List struct {
	faults      []*Fault
	moreFaults  int
	warnings    []warning
	moreWarning int
	seen        map[string]int
}

// warning is one that may have been found at many places; the first one is told.
type warning struct {
	Fault
	times int
}

// Add notes a fault.
func (l *List) Add(at Position, format string, args ...any) {
	l.add(&Fault{Position: at, Text: fmt.Sprintf(format, args...)})
}

func (l *List) add(fault *Fault) {
	if len(l.faults) == mostFaults {
		l.moreFaults++
		return
	}
	l.faults = append(l.faults, fault)
}

// Warn notes a warning. One with the same file, text and field is counted instead of repeated.
func (l *List) Warn(at Position, format string, args ...any) {
	l.warn(warning{Fault: Fault{Position: at, Text: fmt.Sprintf(format, args...)}, times: 1})
}

func (l *List) warn(w warning) {
	key := w.File + "\x00" + w.Field + "\x00" + w.Text
	if at, found := l.seen[key]; found {
		l.warnings[at].times += w.times
		return
	}
	if len(l.warnings) == mostWarnings {
		l.moreWarning++
		return
	}
	if l.seen == nil {
		l.seen = map[string]int{}
	}
	l.seen[key] = len(l.warnings)
	l.warnings = append(l.warnings, w)
}

// Merge adds what other has collected.
func (l *List) Merge(other *List) {
	for _, fault := range other.faults {
		l.add(fault)
	}
	for _, w := range other.warnings {
		l.warn(w)
	}
	l.moreFaults += other.moreFaults
	l.moreWarning += other.moreWarning
}

// Warnings are the texts of the warnings, in the order in which they were found.
func (l *List) Warnings() []string {
	texts := make([]string, 0, len(l.warnings)+1)
	for i := range l.warnings {
		text := l.warnings[i].Fault.String()
		if more := l.warnings[i].times - 1; more > 0 {
			text += fmt.Sprintf(" (and %d times more)", more)
		}
		texts = append(texts, text)
	}
	if l.moreWarning > 0 {
		texts = append(texts, fmt.Sprintf("and %d warnings more", l.moreWarning))
	}
	return texts
}

// Err is nil without faults, and else an *Error with all of them.
func (l *List) Err() error {
	if len(l.faults) == 0 {
		return nil
	}
	return &Error{Faults: l.faults, More: l.moreFaults}
}

// Error is bad input.
type Error struct {
	Faults []*Fault
	// More is the number of faults that are not in Faults.
	More int
}

func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, fault := range e.Faults {
		lines = append(lines, fault.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d faults more", e.More))
	}
	return strings.Join(lines, "\n")
}
