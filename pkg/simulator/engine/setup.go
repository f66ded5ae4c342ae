package engine

import (
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/world"
)

// Setup is what a scheduler is made from.
type Setup struct {
	// Cluster has the nodes in the experiment's order: the first of equals in it wins a tie under firstByName. Node
	// indexes of bindings are positions in it. Names are those of the input, without a prefix.
	Cluster *model.Cluster
	// State is what is free, to be read only: the engine changes it before it calls Assume and Remove.
	State *occupancy.State
	// World is what there is beside CPU, memory and GPUs; nil when there is nothing of it.
	World *world.World
	// Typical are the classes of pods that fragmentation is measured for at the start.
	Typical []gpushare.TypicalPod
	// Now is the trace's time, for schedulers that count it; the engine sets it.
	Now func() time.Duration
	// Rand is the run's source of random numbers, shared by everything that draws, in a fixed order.
	Rand *dice.Rand
}
