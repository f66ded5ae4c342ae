package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/training"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
)

const (
	// A tenth of the published trace keeps a generation of 16 networks on two workloads at a few seconds.
	smokeScale = 0.1
	// smokeGenerations are enough to see that the search improves, and few enough for two minutes on two cores.
	smokeGenerations = 8
	// Seeds of the generated workloads that the network is trained on and is compared with FGD on.
	firstGenerated, firstUnseen = 1, 101
	smokeWorkloads              = 2
)

// generated makes workloads with the published trace's shape, each of other draws.
func generated(number int, scale, ratio float64, firstSeed uint64, heldOut bool) ([]training.Workload, error) {
	var workloads []training.Workload
	for i := range number {
		seed := firstSeed + uint64(i)
		cluster, pods, err := workload.Published().Generate(scale, seed)
		if err != nil {
			return nil, badInputf("generating a workload: %w", err)
		}
		for j := range pods {
			// They arrive one after the other and stay, as in the published experiments.
			pods[j].Arrival, pods[j].Departure = 0, 0
		}
		workloads = append(workloads, training.Workload{
			Name: fmt.Sprintf("generated-%d", seed), Cluster: *cluster, Pods: pods, Ratio: ratio, HeldOut: heldOut,
		})
	}
	return workloads, nil
}

// smoke trains for a short time on small generated workloads and shows what that brought on those it has not seen. It
// fails when it brought nothing.
func (o *trainOptions) smoke(ctx context.Context, out, errOut io.Writer) error {
	open, err := generated(smokeWorkloads, smokeScale, o.ratio, firstGenerated, false)
	if err != nil {
		return err
	}
	unseen, err := generated(smokeWorkloads, smokeScale, o.ratio, firstUnseen, true)
	if err != nil {
		return err
	}
	layers, _, err := training.Train(ctx, open, training.Options{
		Generations: smokeGenerations, Seed: o.seed, FirstSeed: firstTrainingSeed, Cores: o.cores,
		Done: func(p training.Progress) error {
			fmt.Fprintf(errOut, "generation %d of %d: %.2f%% of GPUs allocated by the mean, %.2f%% by the best (%s)\n",
				p.Strategy.Generation, smokeGenerations, p.Mean, p.Best, strings.Join(p.Workloads, ", "))
			return nil
		},
	})
	if err != nil {
		return err
	}
	// The start of the search decides as FGD does, so FGD's column is what it began with.
	gate, err := o.judge(ctx, layers, append(open, unseen...), out)
	if err != nil {
		return err
	}
	before, after := 0.0, 0.0
	for i := range gate {
		before += gate[i].FGD / float64(len(gate))
		after += gate[i].Network / float64(len(gate))
	}
	fmt.Fprintf(out, "before %.2f%%, after %d generations %.2f%% of GPUs allocated, mean of %d workloads\n",
		before, smokeGenerations, after, len(gate))
	if after <= before {
		return fmt.Errorf("want more GPUs allocated than at the start, %.2f %%, found %.2f %%", before, after)
	}
	return nil
}
