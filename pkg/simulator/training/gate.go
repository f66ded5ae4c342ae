package training

import (
	"context"
	"math"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

const (
	// deviations is by how many standard deviations of the paired difference a network must beat FGD.
	deviations = 2
	// tolerated is how many points a network may allocate less than FGD on a workload.
	tolerated = 0.2
)

// Comparison is how a network does on one workload beside FGD, over the same seeds.
type Comparison struct {
	Workload string
	// HeldOut says that the network was not trained on the workload, with any seed.
	HeldOut bool
	// Seeds are those that both played.
	Seeds []int64
	// FGD and Network are the mean percent of GPU capacity allocated in the end; Difference is Network - FGD, and
	// Deviation the standard deviation of that difference between seeds.
	FGD, Network, Difference, Deviation float64
}

// Beats says whether the difference is more than two standard deviations.
func (c *Comparison) Beats() bool { return c.Difference > deviations*c.Deviation }

// Worse says whether the network allocates less by more than the tolerated 0.2 points.
func (c *Comparison) Worse() bool { return c.Difference < -tolerated }

// Passes is the gate: the network beats FGD on the first workload and on each that was held out, and is worse nowhere.
func Passes(all []Comparison) bool {
	for i := range all {
		if all[i].Worse() || (i == 0 || all[i].HeldOut) && !all[i].Beats() {
			return false
		}
	}
	return len(all) > 0
}

// Judge plays all workloads with the seeds, by the network and by FGD. done is told of each workload; it may be nil.
func Judge(
	ctx context.Context, network *mlp.Network, workloads []Workload, seeds []int64, cores int, done func(*Comparison),
) ([]Comparison, error) {
	var all []Comparison
	for i := range workloads {
		var turns []turn
		for _, seed := range seeds {
			turns = append(turns, turn{&workloads[i], seed, FGD()}, turn{&workloads[i], seed, Learned(network)})
		}
		values, err := playAll(ctx, turns, cores)
		if err != nil {
			return nil, err
		}
		c := compare(values)
		c.Workload, c.HeldOut, c.Seeds = workloads[i].Name, workloads[i].HeldOut, slices.Clone(seeds)
		if done != nil {
			done(&c)
		}
		all = append(all, c)
	}
	return all, nil
}

// compare summarises values that alternate between FGD and the network.
func compare(values []float64) Comparison {
	var c Comparison
	pairs := float64(len(values) / 2)
	for i := 0; i+1 < len(values); i += 2 {
		c.FGD += values[i] / pairs
		c.Network += values[i+1] / pairs
	}
	c.Difference = c.Network - c.FGD
	squares := 0.0
	for i := 0; i+1 < len(values); i += 2 {
		squares += math.Pow(values[i+1]-values[i]-c.Difference, 2)
	}
	if pairs > 1 {
		c.Deviation = math.Sqrt(squares / (pairs - 1))
	}
	return c
}
