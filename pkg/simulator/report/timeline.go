package report

import (
	"math"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Timeline keeps what the idle GPU capacity was good for while pods arrived: the last state at each whole percent of
// arrived demand. It is an observer of a run.
type Timeline struct {
	samples []Sample
}

// Sample is one state, in GPUs.
type Sample struct {
	ArrivedPercent int
	Idle           [gpushare.Quadrants]float64
}

// Observe notes the state after an event.
func (t *Timeline) Observe(e *model.Event) {
	u := e.Usage
	if u.TotalGPUMilli == 0 {
		return
	}
	sample := Sample{ArrivedPercent: int(math.Round(100 * float64(u.ArrivedGPUMilli) / float64(u.TotalGPUMilli)))}
	for quadrant, milli := range u.Frag {
		sample.Idle[quadrant] = milli / model.GPUMilli
	}
	if last := len(t.samples) - 1; last >= 0 && t.samples[last].ArrivedPercent == sample.ArrivedPercent {
		t.samples[last] = sample
		return
	}
	t.samples = append(t.samples, sample)
}

// Samples are in the order of arrival.
func (t *Timeline) Samples() []Sample { return t.samples }
