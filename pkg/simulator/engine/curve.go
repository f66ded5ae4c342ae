package engine

import (
	"math"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// curve averages the state over all events in each whole percent of arrived demand, as the predecessor's analysis does.
type curve struct {
	gpus int
	bins []bin
}

type bin struct {
	events                         int
	allocation, capacity, relative float64
}

// maxPercent bounds the curve for clusters that are far too small for their workload.
const maxPercent = 1000

func (c *curve) add(u *model.Usage) {
	if c.gpus == 0 {
		return
	}
	// Percent of GPUs, with the divisions in the analysis' order, so that halves round alike.
	percent := math.RoundToEven(float64(u.ArrivedGPUMilli) / float64(c.gpus) / 10)
	if percent > maxPercent {
		return
	}
	at := int(percent)
	for len(c.bins) <= at {
		c.bins = append(c.bins, bin{})
	}
	b := &c.bins[at]
	b.events++
	b.allocation += float64(u.UsedGPUMilli) / float64(c.gpus) / 10
	b.capacity += u.Frag.Fragment() / float64(c.gpus) / 10
	b.relative += u.FragRatio()
}

// points are the means; a percent at which nothing happened has its neighbour's.
func (c *curve) points() []model.CurvePoint {
	points := make([]model.CurvePoint, len(c.bins))
	for i, b := range c.bins {
		if b.events == 0 && i > 0 {
			points[i] = points[i-1]
		} else if b.events > 0 {
			n := float64(b.events)
			points[i] = model.CurvePoint{Allocation: b.allocation / n, FragCapacity: b.capacity / n, FragRatio: b.relative / n}
		}
		points[i].ArrivedPercent = i
	}
	return points
}
