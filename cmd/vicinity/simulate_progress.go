package main

import (
	"fmt"
	"io"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// How long a run is silent, how often it says something then, and how many events pass between looks at the clock.
const (
	silentFor     = 2 * time.Second
	progressEvery = 2 * time.Second
	eventsPerLook = 64
)

// afterSilence writes a line if stop has not been called until then. After stop nothing is written any more.
func afterSilence(out io.Writer, line string) (stop func()) {
	written := make(chan struct{})
	timer := time.AfterFunc(silentFor, func() {
		defer close(written)
		fmt.Fprintln(out, line)
	})
	return func() {
		if !timer.Stop() {
			<-written
		}
	}
}

// progress tells how far a run is. It is an observer, and belongs to the goroutine of the run.
type progress struct {
	out           io.Writer
	name          string
	pods, arrived int
	events        int
	began, next   time.Time
}

// newProgress counts towards the number of pods of the input; tuning may change it, so that the end comes near it only.
func newProgress(out io.Writer, name string, pods int, now time.Time) *progress {
	return &progress{out: out, name: name, pods: pods, began: now, next: now.Add(silentFor)}
}

func (p *progress) Observe(e *model.Event) {
	if e.Kind != model.Deleted {
		p.arrived++
	}
	if p.events++; p.events%eventsPerLook != 0 {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	rate := float64(p.arrived) / now.Sub(p.began).Seconds()
	fmt.Fprintf(p.out, "%s: %d decisions, about %d pods in the workload, %.0f decisions a second\n", p.name, p.arrived, p.pods, rate)
}
