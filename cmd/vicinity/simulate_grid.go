package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/sweep"
)

// grid is a sweep with everything read that it needs.
type grid struct {
	sweep.Grid
	policies    map[string]*policy.Config
	experiments map[string]*simulator.Experiment
	settings    sweep.Settings
}

// run plays the grid, or the shard of it, and shows the results.
func (o *sweepOptions) run(cmd *cobra.Command) error {
	list := &faults.List{}
	stop := afterSilence(cmd.ErrOrStderr(), "reading the cluster and the traces ...")
	g, err := o.grid(cmd.Context(), list)
	stop()
	writeWarnings(cmd.ErrOrStderr(), list.Warnings())
	if err != nil {
		return err
	}
	shard, err := sweep.ParseShard(o.shard)
	if err != nil {
		return inputError{err}
	}
	store, err := sweep.Open(o.out, shard, &g.settings)
	if err != nil {
		return inputError{err}
	}
	cells := g.Cells()
	err = sweep.Run(cmd.Context(), cells, shard, o.workers, store, g.play, newBar(cmd.ErrOrStderr()).show)
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	return writeSweep(cmd.OutOrStdout(), o.output, store.Results(cells))
}

// grid reads policies and traces.
func (o *sweepOptions) grid(ctx context.Context, list *faults.List) (*grid, error) {
	g := &grid{policies: map[string]*policy.Config{}, experiments: map[string]*simulator.Experiment{}}
	for _, text := range o.policies {
		if err := g.addPolicy(o, text); err != nil {
			return nil, err
		}
	}
	for _, pods := range o.pods {
		loaded, err := input.Load(ctx, &input.Source{Nodes: o.nodes, Pods: []string{pods}}, list)
		if err != nil {
			return nil, asInput(err)
		}
		if len(loaded.Obstacles) > 0 {
			list.Warn(faults.Position{File: pods}, "native policies do not know %s: ignored", loaded.Obstacles[0])
		}
		x := &loaded.Experiment
		x.Workload = simulator.Workload{Shuffle: o.shuffle, TuningRatio: o.tune}
		x.Typical = studyTypical()
		if err := x.Validate(); err != nil {
			return nil, badInputf("%s: %w", pods, err)
		}
		if g.experiments[x.Trace] != nil {
			return nil, badInputf("--pods: two traces are called %s: rename a file", x.Trace)
		}
		g.experiments[x.Trace] = x
		g.Traces = append(g.Traces, x.Trace)
	}
	seeds, err := sweep.ParseSeeds(o.seeds)
	if err != nil {
		return nil, inputError{err}
	}
	g.Seeds, g.Policies = seeds, slices.Compact(g.Policies)
	x := g.experiments[g.Traces[0]]
	g.settings = sweep.Settings{
		Model:  g.settings.Model,
		Schema: sweep.Schema, Tune: o.tune, Shuffle: o.shuffle, TieBreak: o.tieBreak, Nodes: len(x.Cluster.Nodes),
		GPUs: x.Cluster.TotalGPUs(), TypicalPods: fmt.Sprintf("%+v", x.Typical),
	}
	return g, nil
}

func (g *grid) addPolicy(o *sweepOptions, text string) error {
	config, err := schedconfig.ParsePolicy(text, "", "", "")
	if err != nil {
		return badInputf("--policies: %w", err)
	}
	digest, err := setNetwork(config, o.model)
	if err != nil {
		return err
	}
	if digest != "" {
		g.settings.Model = digest
	}
	config.TieBreak = policy.TieBreak(o.tieBreak)
	if len(config.Scorers) > 1 {
		config.Name = text // two mixes of the same scorers differ in weights
	}
	g.policies[config.Name] = config
	g.Policies = append(g.Policies, config.Name)
	return nil
}

// studyTypical is what the study's experiments count as typical pods.
func studyTypical() simulator.Typical {
	return simulator.Typical{IncludeCPUPods: true, PopularityThreshold: 95, IncreaseStep: 1}
}

// play runs one cell. The experiment is copied; what it points to is only read.
func (g *grid) play(ctx context.Context, cell sweep.Cell) (*report.Document, error) {
	x := *g.experiments[cell.Trace]
	x.Workload.Seed = cell.Seed
	x.Policy = *g.policies[cell.Policy]
	began := time.Now()
	result, err := simulator.Run(ctx, &x, simulator.Options{})
	if err != nil {
		return nil, err
	}
	return report.ToDocument(&report.Run{Result: result, Wall: time.Since(began), Engine: engineNative}, false), nil
}
