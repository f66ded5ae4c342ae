package engine

import (
	"context"
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Evict takes a running pod off its node. It does not come back by itself.
func (e *Engine) Evict(pod int) error {
	placement := &e.placements[pod]
	if !placement.Scheduled() || placement.HasDeparted {
		return fmt.Errorf("pod %s cannot be evicted: it does not run", e.pods[pod].Key())
	}
	if err := e.release(pod); err != nil {
		return err
	}
	placement.Binding = model.Binding{Node: model.Unplaced}
	return nil
}

// Again tries pods that do not run once more, in the given order.
func (e *Engine) Again(ctx context.Context, pods []int) error {
	for _, pod := range pods {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the simulation was stopped: %w", err)
		}
		if err := e.attempt(ctx, event{at: e.now, kind: retry, pod: pod, index: e.events.arrivals[pod]}); err != nil {
			return err
		}
	}
	return nil
}

// Withdraw undoes the arrival of all pods from first on: those that run give back what they hold, and the pods are
// forgotten.
func (e *Engine) Withdraw(first int) error {
	for pod := first; pod < len(e.pods); pod++ {
		p := &e.placements[pod]
		if p.Scheduled() && !p.HasDeparted {
			if err := e.release(pod); err != nil {
				return err
			}
		}
		e.waiting.drop(pod)
		e.setup.State.Unarrive(&e.pods[pod])
	}
	e.pods, e.placements = e.pods[:first], e.placements[:first]
	return nil
}
