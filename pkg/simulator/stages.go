package simulator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/deschedule"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/workload"
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
	s.close(model.Stage{Tag: InitSchedule})
	if err := s.inflate(ctx, ScheduleInflation); err != nil {
		return err
	}
	if s.experiment.NewWorkload != nil {
		s.engine.SetTypical(s.experiment.Typical.of(workload.ByName(s.experiment.NewWorkload)))
	}
	if s.experiment.Deschedule.Policy != "" {
		if err := s.deschedule(ctx); err != nil {
			return err
		}
		if err := s.inflate(ctx, DescheduleInflation); err != nil {
			return err
		}
	}
	for _, app := range s.experiment.Apps {
		if err := s.engine.Play(ctx, app.Pods); err != nil {
			return fmt.Errorf("app %s: %w", app.Name, err)
		}
	}
	return nil
}

// inflate asks what else would fit, and takes it away again.
func (s *stages) inflate(ctx context.Context, tag string) error {
	before := len(s.engine.Pods())
	clones, err := workload.Inflate(s.engine.Pods(), s.base, s.setup.Cluster, s.experiment.Inflation.Ratio, s.setup.Rand)
	if err != nil || s.experiment.Inflation.Ratio <= 1 {
		return err
	}
	if err := s.engine.Play(ctx, clones); err != nil {
		return err
	}
	stage := model.Stage{Tag: tag, Inflated: len(clones)}
	for i := range clones {
		if s.engine.Placements()[before+i].Scheduled() {
			stage.InflatedScheduled++
		}
	}
	s.close(stage)
	return s.engine.Withdraw(before)
}

// deschedule evicts pods and places them anew.
func (s *stages) deschedule(ctx context.Context) error {
	d := s.experiment.Deschedule
	evicted, err := deschedule.Run(d.Policy, d.Ratio, &deschedule.Cluster{
		State: s.setup.State, Pods: s.engine.Pods(), Placements: s.engine.Placements(), Evict: s.engine.Evict,
	})
	if err != nil {
		return err
	}
	s.close(model.Stage{Tag: PostEviction, Evicted: evicted})
	if err := s.engine.Again(ctx, evicted); err != nil {
		return err
	}
	s.close(model.Stage{Tag: PostDeschedule, Evicted: evicted})
	return nil
}

// close records the state. Pods that an inflation added are left out.
func (s *stages) close(stage model.Stage) {
	stage.Usage = *s.setup.State.Usage()
	for i := range s.setup.Cluster.Nodes {
		stage.NodesLeft = append(stage.NodesLeft, s.setup.State.Left(i))
	}
	placements := s.engine.Placements()
	for i := range placements[:len(placements)-stage.Inflated] {
		p := &placements[i]
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
