package simulator

import (
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Options are what a run does beside computing the result; they never change it.
//
// The entry point is Run(ctx, *Experiment, Options) (*model.Result, error).
type Options struct {
	// NewScheduler makes the scheduler that decides; nil means the native policy of the experiment.
	NewScheduler engine.NewScheduler
	// Observer is told of every event. May be nil.
	Observer model.Observer
	// Bellman computes the recursive fragmentation for every event, which costs many times the rest of the run.
	Bellman bool
}
