package simulator

import (
	"context"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Tags of stages, as in the predecessor's logs.
const (
	InitSchedule        = "InitSchedule"
	PostEviction        = "PostEviction"
	PostDeschedule      = "PostDeschedule"
	ScheduleInflation   = "ScheduleInflation"
	DescheduleInflation = "DescheduleInflation"
)

// stages are the parts of a run.
type stages struct {
	experiment *Experiment
	engine     *engine.Engine
	setup      *engine.Setup
	base       []model.Pod
	curve      []model.CurvePoint
	done       []model.Stage
}

func (s *stages) play(ctx context.Context, pods []model.Pod) error {
	if err := s.engine.Play(ctx, slices.Concat(s.experiment.Daemons, pods)); err != nil {
		return err
	}
	s.curve = s.engine.Curve()
	s.close(InitSchedule)
	for _, app := range s.experiment.Apps {
		if err := s.engine.Play(ctx, app.Pods); err != nil {
			return err
		}
	}
	return nil
}

// close records the state.
func (s *stages) close(tag string) {
	stage := model.Stage{Tag: tag, Usage: *s.setup.State.Usage()}
	for i := range s.setup.Cluster.Nodes {
		stage.NodesLeft = append(stage.NodesLeft, s.setup.State.Left(i))
	}
	for i := range s.engine.Placements() {
		p := &s.engine.Placements()[i]
		stage.Placements = append(stage.Placements, model.Placement{Pod: p.Pod, Binding: p.Binding})
	}
	s.done = append(s.done, stage)
}

// engine is the same for the engine, with defaults.
func (q Queue) engine() engine.Queue {
	if q.InitialBackoff == 0 {
		q.InitialBackoff = time.Second
	}
	if q.MaxBackoff == 0 {
		q.MaxBackoff = 10 * time.Second
	}
	return engine.Queue{
		Retry: q.Retry, InitialBackoff: q.InitialBackoff, MaxBackoff: q.MaxBackoff, RunFullLength: q.RunFullLength,
	}
}
