package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-logr/logr"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/framework"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/policy"
)

// engine chooses who decides, sets the experiment's policy, and says why the framework was taken when nobody asked for
// it. A nil scheduler is the native one.
func (s *simulation) engine(choice *schedconfig.Choice, x *simulator.Experiment, errOut io.Writer) (string, engine.NewScheduler, error) {
	why := choice.WhyNot
	if why == "" && len(s.loaded.Obstacles) > 0 {
		why = "native policies do not know " + strings.Join(s.loaded.Obstacles, ", ")
	}
	switch wanted := s.options.engine; {
	case wanted == engineNative && choice.Native == nil:
		return "", nil, badInputf("--engine native: %s", why)
	case wanted == engineNative:
		if why != "" {
			fmt.Fprintf(errOut, "warning: %s: ignored, as --engine native asks for it\n", why)
		}
		fallthrough
	case wanted == engineAuto && why == "":
		s.options.decide(choice.Native, x)
		return engineNative, nil, nil
	case wanted == engineAuto:
		fmt.Fprintf(errOut, "the real scheduling framework decides: %s\n", why)
	}
	decide, err := s.framework(choice, x)
	return engineFramework, decide, err
}

// framework prepares the real scheduling framework. Its configuration is checked here, so that a fault in it is bad
// input and not a failed run.
func (s *simulation) framework(choice *schedconfig.Choice, x *simulator.Experiment) (engine.NewScheduler, error) {
	text, err := choice.V1, error(nil)
	if text == nil {
		text, err = framework.ConfigFor(choice.Native)
	}
	if err == nil {
		_, err = framework.Decode(text)
	}
	if err != nil {
		return nil, badInputf("%s: %w", choice.File, err)
	}
	tie := policy.TieBreak(s.options.tieBreak)
	x.Policy = policy.Config{Name: choice.Name(), TieBreak: tie}
	start := framework.New(&framework.Options{Config: text, TieBreak: tie, Objects: s.loaded.Objects.Beside()})
	return func(ctx context.Context, setup *engine.Setup) (engine.Scheduler, error) {
		// What kube-scheduler says for people who watch a cluster is of no use here.
		decide, err := start(logr.NewContext(ctx, logr.Discard()), setup)
		if err != nil {
			return nil, badInputf("%s: %w", choice.File, err)
		}
		return decide, nil
	}, nil
}
