package simulator

import (
	"context"
	"errors"
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
)

// Plan is the answer to how many more nodes a workload needs.
type Plan struct {
	// Nodes is the number of nodes of the shape, beside those that the cluster has.
	Nodes int
	// Result is the run with that many.
	Result *model.Result
	// Runs is the number of runs it took to find it.
	Runs int
}

// ErrNeverFits says that a pod fits on no node of the shape, however many there are.
var ErrNeverFits = errors.New("no number of nodes is enough")

// PlanCapacity finds the fewest nodes of a shape that have to be added to the experiment's cluster, which may be
// empty, so that the policy finds a node for every pod at its first attempt. most bounds the search.
//
// With one node less some pod finds none: that is what fewest means. Policies are heuristics, so even fewer nodes may
// happen to do; the search does not try all numbers.
func PlanCapacity(ctx context.Context, x *Experiment, shape *model.Node, most int, options Options) (*Plan, error) {
	if err := x.checkPlan(shape, most); err != nil {
		return nil, err
	}
	plan := &Plan{Nodes: -1}
	try := func(nodes int) (bool, error) {
		result, err := Run(ctx, x.with(shape, nodes), options)
		if err != nil {
			return false, err
		}
		plan.Runs++
		if !everyPodAtOnce(result) {
			return false, nil
		}
		plan.Nodes, plan.Result = nodes, result
		return true, nil
	}
	low := -1 // too few
	if len(x.Cluster.Nodes) == 0 {
		low = 0
	}
	high := low + 1
	for {
		enough, err := try(high)
		if err != nil {
			return nil, err
		}
		if enough {
			break
		}
		if high == most {
			return nil, fmt.Errorf("%w: %d nodes like %s are not, and no more may be added", ErrNeverFits, most, shape.Name)
		}
		low, high = high, min(max(2*high, 1), most)
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		enough, err := try(middle)
		if err != nil {
			return nil, err
		}
		if enough {
			high = middle
		} else {
			low = middle
		}
	}
	return plan, nil
}

// checkPlan refuses what cannot be answered.
func (x *Experiment) checkPlan(shape *model.Node, most int) error {
	if most < 1 || most > 1_000_000 {
		return fmt.Errorf("at most %d nodes may be added: expected 1 to 1000000", most)
	}
	if x.Workload.TuningRatio > 0 {
		return errors.New("a workload that is tuned to the cluster's size cannot tell the size that it needs: leave out the tuning ratio")
	}
	for i := range x.Cluster.Nodes {
		if x.Cluster.Nodes[i].Name == shape.Name {
			return fmt.Errorf("the shape %q has the name of a node of the cluster: give it another", shape.Name)
		}
	}
	enlarged := x.with(shape, 1)
	if err := enlarged.Validate(); err != nil {
		return err
	}
	state := occupancy.New(&enlarged.Cluster, nil)
	for i := range x.Pods {
		wish := state.Wish(&x.Pods[i])
		if len(state.Feasible(nil, &wish)) == 0 {
			return fmt.Errorf("%w: pod %s fits on no empty node: %s", ErrNeverFits, x.Pods[i].Key(), state.Shortage(&wish))
		}
	}
	return nil
}

// with is the experiment with more nodes.
func (x *Experiment) with(shape *model.Node, nodes int) *Experiment {
	larger := *x
	larger.Cluster.Nodes = append([]model.Node(nil), x.Cluster.Nodes...)
	for i := range nodes {
		node := *shape
		node.Name = fmt.Sprintf("%s-%d", shape.Name, i)
		larger.Cluster.Nodes = append(larger.Cluster.Nodes, node)
	}
	return &larger
}

func everyPodAtOnce(result *model.Result) bool {
	for i := range result.Placements {
		if p := &result.Placements[i]; !p.Scheduled() || p.Attempts > 1 {
			return false
		}
	}
	return true
}
