package engine

import (
	"context"
	"errors"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// ErrNoFit is what Schedule wraps when no node has room for the pod. Any other error ends the simulation.
var ErrNoFit = errors.New("no node has room")

// Scheduler decides where pods go. It keeps its own view of the cluster, which Assume and Remove keep up to date.
// Pods are those of one workload, and pod is always the index of spec in it.
type Scheduler interface {
	// Schedule chooses a node and devices for the pod without taking them. It returns an error that wraps ErrNoFit,
	// with the reason as text, when there is none.
	Schedule(ctx context.Context, pod int, spec *model.Pod) (model.Binding, error)
	// Assume takes what Schedule has chosen, or what a snapshot says.
	Assume(pod int, spec *model.Pod, binding model.Binding) error
	// Remove gives it back.
	Remove(pod int, spec *model.Pod, binding model.Binding) error
}

// NewScheduler makes a scheduler for an experiment. The cluster's nodes are in the experiment's order: the
// permutation that ties are resolved by has been applied.
type NewScheduler func(ctx context.Context, setup *Setup) (Scheduler, error)
