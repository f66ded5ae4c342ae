package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
)

// Queue is how pods wait; the zero value drops pods that find no node.
type Queue struct {
	// Retry keeps a pod that found no node and tries it again when one has left.
	Retry bool
	// InitialBackoff is the least pause before the second attempt; it doubles with each attempt up to MaxBackoff.
	InitialBackoff, MaxBackoff time.Duration
	// RunFullLength lets a pod run for Departure - Arrival from when it was placed, instead of until its Departure.
	RunFullLength bool
}

// Engine plays workloads on one cluster. It belongs to one goroutine.
type Engine struct {
	setup      *Setup
	scheduler  Scheduler
	queue      Queue
	observer   model.Observer
	pods       []model.Pod
	placements []model.Placement
	curve      curve
	now        time.Duration
	events     agenda
	waiting    waiting
	decisions  int
	bellman    *bellman
	jobs       []job
	// onNode are the pods that run on each node, kept only where there is a world.
	onNode [][]int
}

// Config is what an engine needs beside the cluster.
type Config struct {
	Queue    Queue
	Observer model.Observer
	// Bellman computes the recursive fragmentation after each event.
	Bellman bool
	// Failures are nodes that go down during the first workload. They need Setup.World.
	Failures []model.Failure
}

// New starts with an empty cluster.
func New(ctx context.Context, setup *Setup, newScheduler NewScheduler, config Config) (*Engine, error) {
	if setup.State == nil {
		setup.State = occupancy.New(setup.Cluster, setup.Typical)
	}
	e := &Engine{setup: setup, queue: config.Queue, observer: config.Observer}
	setup.Now = func() time.Duration { return e.now }
	scheduler, err := newScheduler(ctx, setup)
	if err != nil {
		return nil, fmt.Errorf("setting up the policy: %w", err)
	}
	e.scheduler = scheduler
	e.curve.gpus = setup.Cluster.TotalGPUs()
	if config.Bellman {
		e.bellman = newBellman(setup.State)
	}
	return e, e.plan(config.Failures)
}

// Pods are all pods that were added, Placements what became of them.
func (e *Engine) Pods() []model.Pod { return e.pods }

// Placements are one for each of Pods. They are the engine's own.
func (e *Engine) Placements() []model.Placement { return e.placements }

// Decisions is the number of attempts so far.
func (e *Engine) Decisions() int { return e.decisions }

// Curve is the mean state by arrived demand.
func (e *Engine) Curve() []model.CurvePoint { return e.curve.points() }

// SetTypical changes the typical pods.
func (e *Engine) SetTypical(typical []gpushare.TypicalPod) {
	e.setup.State.SetTypical(typical)
	if e.bellman != nil {
		e.bellman = newBellman(e.setup.State)
	}
}

// Play lets the pods arrive, in this order where their times are equal, and runs until nothing is left to happen. The
// context ends it early.
func (e *Engine) Play(ctx context.Context, pods []model.Pod) error {
	if err := e.checkWorld(pods); err != nil {
		return err
	}
	first := len(e.pods)
	e.pods = append(e.pods, pods...)
	for i := range pods {
		e.placements = append(e.placements, model.Placement{
			Pod: first + i, Binding: model.Binding{Node: model.Unplaced}, Arrived: pods[i].Arrival,
		})
	}
	e.grow(first)
	e.events.fill(e.pods, first, !e.queue.RunFullLength)
	for {
		next, ok := e.events.pop()
		if !ok {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the simulation was stopped at %v of the trace's time: %w", e.now, err)
		}
		e.now = max(e.now, next.at)
		if err := e.step(ctx, next); err != nil {
			return err
		}
	}
}

func (e *Engine) step(ctx context.Context, next event) error {
	switch next.kind {
	case arrival:
		e.setup.State.Arrive(&e.pods[next.pod])
		return e.attempt(ctx, next)
	case retry:
		if !e.waiting.take(next.pod) {
			return nil // it has left the queue meanwhile
		}
		return e.attempt(ctx, next)
	case departure:
		if e.void(next) {
			return nil
		}
		return e.depart(next)
	case nodeDown:
		return e.fail(next.pod)
	case nodeUp:
		return e.recover(next.pod)
	default:
		return fmt.Errorf("event of kind %d", next.kind)
	}
}

// attempt tries to place a pod.
func (e *Engine) attempt(ctx context.Context, next event) error {
	spec, placement := &e.pods[next.pod], &e.placements[next.pod]
	placement.Attempts++
	e.decisions++
	binding, err := e.scheduler.Schedule(ctx, next.pod, spec)
	if err != nil {
		if !errors.Is(err, ErrNoFit) {
			return fmt.Errorf("scheduling pod %s: %w", spec.Key(), err)
		}
		placement.Reason = err.Error()
		if e.queue.Retry {
			e.waiting.add(next.pod, e.now+e.backoff(placement.Attempts))
		}
		e.tell(model.Failed, next, placement.Binding)
		return nil
	}
	if err := e.bind(next.pod, binding); err != nil {
		return err
	}
	e.begin(next.pod, binding.Node, next)
	e.tell(model.Created, next, binding)
	return nil
}

// bind takes what was chosen.
func (e *Engine) bind(pod int, binding model.Binding) error {
	spec, placement := &e.pods[pod], &e.placements[pod]
	if err := e.setup.State.Place(spec, binding); err != nil {
		return fmt.Errorf("the policy chose what is not free: %w", err)
	}
	placement.Binding, placement.Placed, placement.Reason = binding, e.now, ""
	if err := e.scheduler.Assume(pod, spec, binding); err != nil {
		return fmt.Errorf("binding pod %s: %w", spec.Key(), err)
	}
	return nil
}

// depart ends a pod, whether it runs or still waits.
func (e *Engine) depart(next event) error {
	placement := &e.placements[next.pod]
	if !placement.Scheduled() {
		e.waiting.drop(next.pod)
		return nil
	}
	if err := e.release(next.pod); err != nil {
		return err
	}
	placement.Departed, placement.HasDeparted = e.now, true
	e.tell(model.Deleted, next, placement.Binding)
	e.wake(placement.Binding.Node)
	return nil
}

// release gives back what the pod holds.
func (e *Engine) release(pod int) error {
	spec, binding := &e.pods[pod], e.placements[pod].Binding
	if err := e.setup.State.Remove(spec, binding); err != nil {
		return err
	}
	e.end(pod, binding.Node)
	if err := e.scheduler.Remove(pod, spec, binding); err != nil {
		return fmt.Errorf("removing pod %s: %w", spec.Key(), err)
	}
	return nil
}

// wake schedules another attempt for the pods that the node may now have room for.
func (e *Engine) wake(node int) {
	hinter, hints := e.scheduler.(Hinter)
	for pod, notBefore := range e.waiting.idle() {
		if hints && !hinter.Helps(node, pod, &e.pods[pod]) {
			continue
		}
		e.waiting.called(pod)
		e.events.push(event{at: max(e.now, notBefore), kind: retry, pod: pod, index: e.events.arrivals[pod]})
	}
}

// backoff is the pause after an attempt, the first being 1: kube-scheduler's exponential back-off.
func (e *Engine) backoff(attempt int) time.Duration {
	pause := e.queue.InitialBackoff
	for range attempt - 1 {
		if pause >= e.queue.MaxBackoff {
			break
		}
		pause *= 2
	}
	return min(pause, e.queue.MaxBackoff)
}

// tell closes an event: it counts for the curve, and the observer sees it.
func (e *Engine) tell(kind model.EventKind, of event, binding model.Binding) {
	usage := e.setup.State.Usage()
	e.curve.add(usage)
	if e.observer == nil {
		return
	}
	if e.bellman != nil {
		usage.Bellman = e.bellman.sum()
	}
	e.observer.Observe(&model.Event{
		Index: of.index, Kind: kind, Time: e.now, Pod: of.pod, PodSpec: &e.pods[of.pod], Binding: binding,
		Reason: e.placements[of.pod].Reason, Usage: usage,
	})
}
