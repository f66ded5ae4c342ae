package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// simulation is everything that is to be run.
type simulation struct {
	options *simulateOptions
	loaded  *input.Loaded
	choices []*schedconfig.Choice
	// also are further observers of each run.
	also observers
}

// plan reads all files before anything runs, so that a fault in the second configuration costs no time.
func (o *simulateOptions) plan(ctx context.Context, cmd *cobra.Command, list *faults.List) (*simulation, error) {
	s := &simulation{options: o}
	for _, name := range o.choices() {
		choice, err := o.scheduler(name, list)
		if err != nil {
			return nil, err
		}
		if choice.Native != nil {
			if _, err := setNetwork(choice.Native, o.model); err != nil {
				return nil, err
			}
		}
		s.choices = append(s.choices, choice)
	}
	tellApart(s.choices)
	loaded, err := o.load(ctx, cmd, list)
	if err != nil {
		return nil, err
	}
	s.loaded = loaded
	if o.greed || o.interactive {
		list.Warn(faults.Position{}, "--use-greed and --interactive have no effect")
	}
	return s, nil
}

// tellApart adds the files' names where two configurations have one title, such as two weights of the same plugin.
func tellApart(choices []*schedconfig.Choice) {
	if len(choices) != 2 || choices[0].Name() != choices[1].Name() {
		return
	}
	for i, choice := range choices {
		suffix := string("ab"[i])
		if choice.File != "" && choices[0].File != choices[1].File {
			suffix = filepath.Base(choice.File)
		}
		choice.Rename(choice.Name() + " (" + suffix + ")")
	}
}

// play runs all configurations and writes what was asked for.
func (s *simulation) play(ctx context.Context, out, errOut io.Writer) error {
	if s.options.apply {
		fmt.Fprintf(out, "cluster.KubeConfig=%s\ncluster.CustomCluster=%s\n", s.loaded.Origin.KubeConfig, s.loaded.Origin.CustomConfig)
	}
	runs, err := s.runAll(ctx, errOut)
	if err != nil {
		return err
	}
	return s.write(out, runs)
}

// runAll plays all configurations.
func (s *simulation) runAll(ctx context.Context, errOut io.Writer) ([]report.PageRun, error) {
	var runs []report.PageRun
	for _, choice := range s.choices {
		run, err := s.run(ctx, choice, errOut)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// run plays one configuration.
func (s *simulation) run(ctx context.Context, choice *schedconfig.Choice, errOut io.Writer) (report.PageRun, error) {
	x := s.loaded.Experiment
	engine, newScheduler, err := s.engine(choice, &x, errOut)
	if err != nil {
		return report.PageRun{}, err
	}
	timeline := &report.Timeline{}
	observers := append(observers{timeline}, s.also...)
	var log *report.SimonLog
	if s.options.logFormat == logFormatSimon {
		log = report.NewSimonLog(errOut, time.Now, s.options.bellman)
		observers = append(observers, log)
	} else {
		observers = append(observers, newProgress(errOut, x.Policy.Title(), len(x.Pods), time.Now()))
	}
	began := time.Now()
	result, err := simulator.Run(ctx, &x, simulator.Options{
		NewScheduler: newScheduler, Observer: observers, Bellman: s.options.bellman,
	})
	if err != nil {
		return report.PageRun{}, fmt.Errorf("simulating %s: %w", x.Policy.Title(), err)
	}
	run := report.PageRun{Run: &report.Run{Result: result, Wall: time.Since(began), Engine: engine}, Timeline: timeline}
	if log != nil {
		log.Stages(result)
		return run, log.Err()
	}
	return run, nil
}

// observers tells several.
type observers []model.Observer

func (all observers) Observe(e *model.Event) {
	for _, one := range all {
		one.Observe(e)
	}
}

// write writes the results to stdout and to the files that flags name.
func (s *simulation) write(out io.Writer, pages []report.PageRun) error {
	o := s.options
	if err := s.writeFiles(pages); err != nil {
		return err
	}
	runs := plain(pages)
	switch {
	case o.output == "json" && len(runs) == 1:
		return report.WriteJSON(out, runs[0], o.placements)
	case o.output == "json":
		return report.WriteComparison(out, runs[0], runs[1], o.placements)
	case o.output == "csv":
		return report.WriteCurves(out, runs...)
	case o.apply:
		return s.writeVerdict(out, runs)
	default:
		return report.WriteText(out, runs...)
	}
}

// decide sets the policy, and the tie break, which is a flag and not part of a configuration.
func (o *simulateOptions) decide(config *policy.Config, x *simulator.Experiment) {
	x.Policy = *config
	x.Policy.TieBreak = policy.TieBreak(o.tieBreak)
}
