package engine

import (
	"context"
	"errors"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// ErrNoFit is what Schedule wraps when no node has room for the pod. Any other error ends the simulation.
var ErrNoFit = errors.New("no node has room")

// Scheduler decides where pods go. pod is always the index of spec in the run.
type Scheduler interface {
	// Schedule chooses a node and devices for the pod without taking them. It returns an error that wraps ErrNoFit,
	// with the reason as text, when there is none.
	Schedule(ctx context.Context, pod int, spec *model.Pod) (model.Binding, error)
	// Assume tells that the pod has taken what Schedule chose.
	Assume(pod int, spec *model.Pod, binding model.Binding) error
	// Remove tells that it has given it back.
	Remove(pod int, spec *model.Pod, binding model.Binding) error
}

// Hinter is a Scheduler that knows whether a pod that found no node would find room on one that a pod has just left.
// Without it every waiting pod is tried again after every departure.
type Hinter interface {
	Helps(node, pod int, spec *model.Pod) bool
}

// NewScheduler makes a scheduler for an experiment. What it starts ends with ctx.
type NewScheduler func(ctx context.Context, setup *Setup) (Scheduler, error)
