package training

import (
	"context"
	"errors"
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// Options say how a network is trained.
type Options struct {
	// Generations is how many generations are done in all, those of a resumed strategy included.
	Generations int
	// Seed decides everything that is drawn.
	Seed uint64
	// FirstSeed is the first seed of the workloads that are played; each generation takes the next ones. Those of the
	// gate must lie outside.
	FirstSeed int64
	// Cores is how many runs are played at a time.
	Cores int
	// Resume goes on with a strategy that was stopped; nil starts with FGD.
	Resume *Strategy
	// Done is told of each generation, for progress and checkpoints. May be nil.
	Done func(Progress) error
}

// Progress is what a generation has brought.
type Progress struct {
	Strategy *Strategy
	// Workloads were played in this generation. Mean and Best are the percent of GPU capacity that the mean of the
	// strategy and its best candidate allocate on them; they can be compared within a generation only.
	Workloads  []string
	Mean, Best float64
}

// step is the first step size of every weight: a few quanta of the score.
const step = 0.02

// ErrNoWorkload says that there is nothing to train on.
var ErrNoWorkload = errors.New("expected at least one workload that is not held out, found none")

// Train searches for a network that allocates more of a cluster's GPUs, and returns its layers.
func Train(ctx context.Context, workloads []Workload, o Options) ([]mlp.Layer, *Strategy, error) {
	var open []*Workload
	for i := range workloads {
		if !workloads[i].HeldOut {
			open = append(open, &workloads[i])
		}
	}
	if len(open) == 0 {
		return nil, nil, ErrNoWorkload
	}
	s := o.Resume
	if s == nil {
		s = newStrategy(start(), step, o.Seed)
	}
	if len(s.Mean) != searched || len(s.Steps) != searched {
		return nil, nil, fmt.Errorf("expected a strategy with %d weights, found %d: the checkpoint is of another version", searched, len(s.Mean))
	}
	for s.Generation < o.Generations {
		progress, err := generation(ctx, s, open, o)
		if err != nil {
			return nil, nil, err
		}
		if o.Done != nil {
			if err := o.Done(progress); err != nil {
				return nil, nil, err
			}
		}
	}
	return layers(s.Mean, s.Seed), s, nil
}

// perGeneration is how many workloads each candidate plays: the first of the list, and one of the others in turn.
const perGeneration = 2

func generation(ctx context.Context, s *Strategy, open []*Workload, o Options) (Progress, error) {
	played := []*Workload{open[0], open[s.Generation%len(open)]}
	firstSeed := o.FirstSeed + int64(s.Generation)*perGeneration
	drawn := s.ask()
	var turns []turn
	for _, x := range drawn {
		network, err := mlp.NewNetwork(layers(x, s.Seed))
		if err != nil {
			return Progress{}, fmt.Errorf("generation %d: %w", s.Generation, err)
		}
		for i, w := range played {
			turns = append(turns, turn{workload: w, seed: firstSeed + int64(i), config: Learned(network)})
		}
	}
	values, err := playAll(ctx, turns, o.Cores)
	if err != nil {
		return Progress{}, err
	}
	sums := make([]float64, len(drawn))
	for i, v := range values {
		sums[i/perGeneration] += v / perGeneration
	}
	s.tell(drawn, sums)
	p := Progress{Strategy: s, Mean: sums[0], Best: sums[0]}
	for _, v := range sums {
		p.Best = max(p.Best, v)
	}
	for _, w := range played {
		p.Workloads = append(p.Workloads, w.Name)
	}
	return p, nil
}
