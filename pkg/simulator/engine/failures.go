package engine

import (
	"fmt"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Drainer is a Scheduler that can be told that a node is down. Failures can be simulated with those only.
type Drainer interface {
	SetDown(node int, down bool) error
}

// plan puts the failures on the agenda.
func (e *Engine) plan(failures []model.Failure) error {
	if len(failures) == 0 {
		return nil
	}
	if _, can := e.scheduler.(Drainer); !can {
		return fmt.Errorf("%d nodes are to fail, but this engine (%T) cannot simulate that: use native policies", len(failures), e.scheduler)
	}
	nodes := make(map[string]int, len(e.setup.Cluster.Nodes))
	for i := range e.setup.Cluster.Nodes {
		nodes[e.setup.Cluster.Nodes[i].Name] = i
	}
	for _, f := range failures {
		e.events.push(event{at: f.At, kind: nodeDown, pod: nodes[f.Node]})
		if f.Until != 0 {
			e.events.push(event{at: f.Until, kind: nodeUp, pod: nodes[f.Node]})
		}
	}
	return nil
}

// fail takes a node away with all that runs on it. Its pods have lost their work and look for another node at once.
func (e *Engine) fail(node int) error {
	if err := e.setDown(node, true); err != nil {
		return err
	}
	for _, pod := range slices.Clone(e.onNode[node]) {
		placement := &e.placements[pod]
		lost := placement.Binding
		if err := e.release(pod); err != nil {
			return err
		}
		placement.Binding = model.Binding{Node: model.Unplaced}
		placement.Restarts++
		placement.Reason = fmt.Sprintf("node %s failed", e.setup.Cluster.Nodes[node].Name)
		index := e.events.arrivals[pod]
		e.tell(model.Lost, event{pod: pod, index: index}, lost)
		if e.queue.Retry {
			e.waiting.add(pod, e.now)
			e.waiting.called(pod)
			e.events.push(event{at: e.now, kind: retry, pod: pod, index: index})
		}
	}
	return nil
}

// recover brings the node back, empty.
func (e *Engine) recover(node int) error {
	if err := e.setDown(node, false); err != nil {
		return err
	}
	e.wake(node)
	return nil
}

func (e *Engine) setDown(node int, down bool) error {
	e.setup.State.SetDown(node, down)
	if drainer, can := e.scheduler.(Drainer); can {
		return drainer.SetDown(node, down)
	}
	return nil
}
