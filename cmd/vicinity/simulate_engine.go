package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/schedconfig"
)

// engine chooses who decides, sets the experiment's policy, and says why the framework was taken when nobody asked for
// it. A nil scheduler is the native one.
func (s *simulation) engine(choice *schedconfig.Choice, x *simulator.Experiment, errOut io.Writer) (string, engine.NewScheduler, error) {
	why := choice.WhyNot
	if why == "" && len(s.loaded.Obstacles) > 0 {
		why = "native policies do not know " + strings.Join(s.loaded.Obstacles, ", ")
	}
	switch {
	case choice.Native != nil && s.options.engine == engineNative:
		if why != "" {
			fmt.Fprintf(errOut, "warning: %s: ignored, as --engine native asks for it\n", why)
		}
		s.options.decide(choice.Native, x)
		return engineNative, nil, nil
	case s.options.engine == engineNative:
		return "", nil, badInputf("--engine native: %s", why)
	case s.options.engine == engineAuto && why == "":
		s.options.decide(choice.Native, x)
		return engineNative, nil, nil
	default:
		return "", nil, badInputf("--engine framework: not there yet (%s)", why)
	}
}
