package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/records"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/replay"
)

func newSimulateReplayCommand() *cobra.Command {
	var o simulateOptions
	var speed float64
	cmd := &cobra.Command{
		Use:   "replay RECORDS [CONFIG]",
		Short: "Play recorded decisions again under another configuration, or two",
		Long: "Play the pods of decision records (JSON lines) again, at the times at which they came, under another configuration\n" +
			"or two, and show which pods go elsewhere. What pods ask for is read from manifests or from the cluster, since records\n" +
			"do not hold it. Decisions that the recorder dropped are counted.",
		Example: "  vicinity simulate replay decisions.jsonl --kubeconfig ~/.kube/config -s scheduler-config.yaml\n\n" +
			"  # Two configurations, at ten times the speed at which it happened\n" +
			"  vicinity simulate replay decisions.jsonl --nodes nodes.yaml --pods pods.yaml --compare now.yaml then.yaml --speed 10",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if math.IsNaN(speed) || speed < 0 {
				return badInputf("--speed: want 0, which means as fast as possible, or more; found %v", speed)
			}
			// The rest of `--compare A B` is an argument.
			if err := o.validate(cmd, args[1:]); err != nil {
				return err
			}
			return o.replay(cmd.Context(), cmd, args[0], speed)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().Float64Var(&speed, "speed", 0, "seconds of the records that pass in one; 0 is as fast as possible")
	return cmd
}

func (o *simulateOptions) replay(ctx context.Context, cmd *cobra.Command, file string, speed float64) error {
	list := &faults.List{}
	trace, s, err := o.planReplay(ctx, cmd, file, list)
	writeWarnings(cmd.ErrOrStderr(), list.Warnings())
	if err != nil {
		return err
	}
	unknown := replay.Apply(&s.loaded.Experiment, trace)
	errOut := cmd.ErrOrStderr()
	fmt.Fprintf(errOut, "%s: %v\n", file, trace)
	if len(unknown) > 0 {
		fmt.Fprintf(errOut, "warning: %d pods of the records are not in the input and are left out, %s among them\n", len(unknown), unknown[0])
	}
	if len(s.loaded.Experiment.Pods) == 0 {
		return badInputf("%s: want pods of the input, found none; give their manifests with --pods", file)
	}
	if err := s.loaded.Experiment.Validate(); err != nil {
		return inputError{err}
	}
	if speed > 0 {
		s.also = append(s.also, replay.NewPace(speed, time.Now, ctx.Done()))
	}
	pages, err := s.runAll(ctx, errOut)
	if err != nil {
		return err
	}
	if err := s.writeFiles(pages); err != nil {
		return err
	}
	result := replay.Compare(trace, unknown, plain(pages)...)
	if o.output == "json" {
		return result.WriteJSON(cmd.OutOrStdout())
	}
	return result.WriteText(cmd.OutOrStdout())
}

// planReplay reads the records, and everything else as a simulation does.
func (o *simulateOptions) planReplay(
	ctx context.Context, cmd *cobra.Command, file string, list *faults.List,
) (*records.Trace, *simulation, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, badInputf("reading the records: %w", err)
	}
	trace := records.Parse(file, data, list)
	if err := list.Err(); err != nil {
		return nil, nil, err
	}
	s, err := o.plan(ctx, cmd, list)
	return trace, s, err
}
