package report

import (
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Run is a finished simulation and how long it took.
type Run struct {
	*model.Result
	// Wall is the time that deciding took, without reading the input.
	Wall time.Duration
	// Engine is native or framework.
	Engine string
}

// DecisionsPerSecond is 0 when nothing was measured.
func (r *Run) DecisionsPerSecond() float64 {
	if r.Wall <= 0 {
		return 0
	}
	return float64(r.Decisions) / r.Wall.Seconds()
}

// TotalGPUs is the number of devices of all nodes.
func (r *Run) TotalGPUs() int {
	cluster := model.Cluster{Nodes: r.Nodes}
	return cluster.TotalGPUs()
}

// At is the point of the curve at a percentage of arrived demand, if the run got there.
func (r *Run) At(percent int) (model.CurvePoint, bool) {
	for _, point := range r.Curve {
		if point.ArrivedPercent == percent {
			return point, true
		}
	}
	return model.CurvePoint{}, false
}

// Last is the last point of the curve; there is none without pods that want GPUs.
func (r *Run) Last() (model.CurvePoint, bool) {
	if len(r.Curve) == 0 {
		return model.CurvePoint{}, false
	}
	return r.Curve[len(r.Curve)-1], true
}

// stage finds a stage of the experiment by its tag; the first one without a tag.
func (r *Run) stage(tag string) *model.Stage {
	for i := range r.Stages {
		if tag == "" || r.Stages[i].Tag == tag {
			return &r.Stages[i]
		}
	}
	return nil
}
