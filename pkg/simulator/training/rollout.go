package training

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// Workload is one trace that networks play: pods for a cluster.
type Workload struct {
	// Name is shown in reports.
	Name string
	// Cluster and Pods are played as simulator.Experiment has them, shuffled and tuned to Ratio.
	Cluster model.Cluster
	Pods    []model.Pod
	// Ratio is the GPU demand in parts of the cluster's capacity; 1.3 in the published experiments.
	Ratio float64
	// HeldOut keeps the workload out of training: it is for the gate alone.
	HeldOut bool
}

// FGD is the policy to beat: fragmentation gradient descent for nodes and devices, ties by the order of nodes.
func FGD() policy.Config {
	return policy.Config{Scorers: []policy.Scorer{{Name: policy.FGD, Weight: 1}}, Device: policy.FGD}
}

// Learned is the policy of a network.
func Learned(network *mlp.Network) policy.Config {
	return policy.Config{Scorers: []policy.Scorer{{Name: policy.MLP, Weight: 1}}, Device: policy.MLP, Network: network}
}

// popularity says which pods are typical, as in the published experiments.
func popularity() gpushare.Popularity {
	return gpushare.Popularity{Threshold: 95, Step: 1, IncludeCPUPods: true}
}

// play runs a workload and returns the share of the GPU capacity that is allocated in the end, in percent.
func play(ctx context.Context, w *Workload, seed int64, config policy.Config) (float64, error) {
	result, err := simulator.Run(ctx, &simulator.Experiment{
		Trace: w.Name, Cluster: w.Cluster, Pods: w.Pods, Policy: config,
		Workload: simulator.Workload{Seed: seed, Shuffle: true, TuningRatio: w.Ratio},
		Typical: simulator.Typical{
			IncludeCPUPods: popularity().IncludeCPUPods, PopularityThreshold: popularity().Threshold, IncreaseStep: popularity().Step,
		},
	}, simulator.Options{})
	if err != nil {
		return 0, fmt.Errorf("workload %s, seed %d: %w", w.Name, seed, err)
	}
	usage := &result.Stages[0].Usage
	if usage.TotalGPUMilli == 0 {
		return 0, fmt.Errorf("workload %s: expected a cluster with GPUs, found none", w.Name)
	}
	return 100 * float64(usage.UsedGPUMilli) / float64(usage.TotalGPUMilli), nil
}

// turn is one run of one candidate.
type turn struct {
	workload *Workload
	seed     int64
	config   policy.Config
}

// playAll runs the turns on so many cores and returns their results in order.
func playAll(ctx context.Context, turns []turn, cores int) ([]float64, error) {
	values := make([]float64, len(turns))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, cores))
	for i := range turns {
		group.Go(func() (err error) {
			values[i], err = play(ctx, turns[i].workload, turns[i].seed, turns[i].config)
			return err
		})
	}
	return values, group.Wait()
}
