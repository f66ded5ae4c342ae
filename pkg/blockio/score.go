package blockio

import (
	"fmt"
	"math"
)

// MaxScore is the best score of a disk.
const MaxScore = 100

// Strategy says which disks are better than others.
type Strategy uint8

const (
	// LeastAllocated prefers the disk of whose free bandwidth the pod takes the smallest share.
	LeastAllocated Strategy = iota
	// MostAllocated prefers the disk of whose free bandwidth the pod takes the largest share.
	MostAllocated
	// RequestedToCapacityRatio scores how much of the disk's capacity is used when the pod is placed.
	RequestedToCapacityRatio
)

// ScorerConfig describes a [Scorer].
type ScorerConfig struct {
	Strategy Strategy
	// Shape is used by RequestedToCapacityRatio only, which needs it.
	Shape []ShapePoint
	// PressureWeight, from 0 to 1, is the share of its score that a disk under full pressure loses. 0 turns the
	// penalty off.
	PressureWeight float64
}

// Scorer ranks disks.
type Scorer struct {
	strategy       Strategy
	shape          shape
	pressureWeight float64
}

// NewScorer compiles a scorer. The error says which value is illegal and what is legal.
func NewScorer(config ScorerConfig) (*Scorer, error) {
	if !(config.PressureWeight >= 0 && config.PressureWeight <= 1) { // false for NaN as well
		return nil, fmt.Errorf("pressure weight: want a number from 0 to 1, found %v", config.PressureWeight)
	}
	s := &Scorer{strategy: config.Strategy, pressureWeight: config.PressureWeight}
	switch config.Strategy {
	case LeastAllocated, MostAllocated:
		return s, nil
	case RequestedToCapacityRatio:
		var err error
		s.shape, err = newShape(config.Shape)
		return s, err
	default:
		return nil, fmt.Errorf("want LeastAllocated, MostAllocated or RequestedToCapacityRatio, found strategy %d", config.Strategy)
	}
}

// Terms are the parts of a disk's score.
type Terms struct {
	// Score is from 0 to MaxScore.
	Score int64
	// Read, Write, ReadIOPS and WriteIOPS are shares from 0 to 1: with LeastAllocated and MostAllocated of what is
	// free, taken by the pod; with RequestedToCapacityRatio of the capacity, used when the pod is placed. They are 0
	// where the strategy does not look at them.
	Read, Write, ReadIOPS, WriteIOPS float64
	// Penalty is the share of the score lost to measured pressure, from 0 to 1.
	Penalty float64
}

// Score ranks a disk for a demand, given what [Device.Free] says of it.
//
// LeastAllocated and MostAllocated are the predecessor's: with ratio = (read/free read + write/free write) / 2 they
// are 100 x (1 - ratio) and 100 x ratio, rounded down. Where the pod asks for operations and the disk's are known,
// ratio is the larger one of this and the same of operations: the scarcer thing decides.
//
// RequestedToCapacityRatio is the mean of what the shape gives for each direction of the bandwidth that the disk has
// a capacity for, and of the operations under the same conditions as above, rounded to the nearest.
func (s *Scorer) Score(d Demand, free Supply, device *Device) Terms {
	var t Terms
	var points float64
	if s.strategy == RequestedToCapacityRatio {
		points = math.Round(s.used(d, free, &device.Capacity, &t))
	} else {
		points = s.taken(d, free, &t)
	}
	if s.pressureWeight > 0 {
		t.Penalty = s.pressureWeight * device.pressure()
		points *= 1 - t.Penalty
	}
	t.Score = toScore(points)
	return t
}

func toScore(points float64) int64 { return int64(max(0, min(points, MaxScore))) }

// taken returns the points of LeastAllocated and MostAllocated.
func (s *Scorer) taken(d Demand, free Supply, t *Terms) float64 {
	t.Read = share(d.Bandwidth.Read, free.Bandwidth.Read)
	t.Write = share(d.Bandwidth.Write, free.Bandwidth.Write)
	ratio := (t.Read + t.Write) / 2
	if asksIOPS(d) && free.HasIOPS {
		t.ReadIOPS = share(d.IOPS.Read, free.IOPS.Read)
		t.WriteIOPS = share(d.IOPS.Write, free.IOPS.Write)
		ratio = max(ratio, (t.ReadIOPS+t.WriteIOPS)/2)
	}
	if s.strategy == MostAllocated {
		return MaxScore * ratio
	}
	return MaxScore * (1 - ratio)
}

// used returns the points of RequestedToCapacityRatio.
func (s *Scorer) used(d Demand, free Supply, capacity *Supply, t *Terms) float64 {
	sum, directions := 0.0, 0
	count := func(utilization float64, ok bool) float64 {
		if ok {
			sum += s.shape.at(utilization)
			directions++
		}
		return utilization
	}
	t.Read = count(utilization(d.Bandwidth.Read, free.Bandwidth.Read, capacity.Bandwidth.Read))
	t.Write = count(utilization(d.Bandwidth.Write, free.Bandwidth.Write, capacity.Bandwidth.Write))
	if asksIOPS(d) && capacity.HasIOPS && free.HasIOPS {
		t.ReadIOPS = count(utilization(d.IOPS.Read, free.IOPS.Read, capacity.IOPS.Read))
		t.WriteIOPS = count(utilization(d.IOPS.Write, free.IOPS.Write, capacity.IOPS.Write))
	}
	if directions == 0 {
		return s.shape.at(1) // a disk that can do nothing is full
	}
	return sum / float64(directions)
}

func asksIOPS(d Demand) bool { return d.IOPS.Read > 0 || d.IOPS.Write > 0 }

// share returns the part of what is free that is asked for, 0 to 1.
func share[T ~int64](asked, free T) float64 {
	switch {
	case asked <= 0:
		return 0
	case asked >= free:
		return 1
	default:
		return float64(asked) / float64(free)
	}
}

// utilization returns the part of the capacity that is in use once what is asked for is placed, 0 to 1, and false
// when there is no capacity.
func utilization[T ~int64](asked, free, capacity T) (_ float64, ok bool) {
	if capacity <= 0 {
		return 0, false
	}
	return share(add(sub(capacity, free), asked), capacity), true
}

// Mean is the score of a node for a pod that uses several of its disks: the mean of their scores. The zero value is
// that of no disks.
type Mean struct {
	sum   int64
	disks int64
}

// Add counts the score of one more disk.
func (m *Mean) Add(score int64) {
	m.sum += score
	m.disks++
}

// Score returns the mean, rounded down, and false when there are no disks.
func (m *Mean) Score() (score int64, ok bool) {
	if m.disks == 0 {
		return 0, false
	}
	return m.sum / m.disks, true
}
