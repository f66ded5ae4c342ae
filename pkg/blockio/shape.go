package blockio

import (
	"errors"
	"fmt"
)

const (
	// MaxShapePoints bounds the number of points of a shape.
	MaxShapePoints = 101
	// maxUtilization and maxShapeScore are the scales of kube-scheduler's shapes.
	maxUtilization = 100
	maxShapeScore  = 10
)

// ShapePoint is a point of the function from utilization to score, on the scales of kube-scheduler's
// RequestedToCapacityRatio: Utilization in percent, 0 to 100, and Score from 0 to 10.
type ShapePoint struct {
	Utilization, Score int32
}

// shape is a function made of straight lines, with utilizations from 0 to 1 and scores from 0 to MaxScore.
type shape []shapePoint

type shapePoint struct{ utilization, score float64 }

func newShape(points []ShapePoint) (shape, error) {
	if len(points) == 0 {
		return nil, errors.New("shape: want at least one point, found none")
	}
	if len(points) > MaxShapePoints {
		return nil, fmt.Errorf("shape: want at most %d points, found %d", MaxShapePoints, len(points))
	}
	out := make(shape, 0, len(points))
	for i, p := range points {
		if p.Utilization < 0 || p.Utilization > maxUtilization {
			return nil, fmt.Errorf("shape[%d]: want a utilization from 0 to %d, found %d", i, maxUtilization, p.Utilization)
		}
		if i > 0 && p.Utilization <= points[i-1].Utilization {
			return nil, fmt.Errorf("shape[%d]: want a utilization above that of the point before, %d, found %d",
				i, points[i-1].Utilization, p.Utilization)
		}
		if p.Score < 0 || p.Score > maxShapeScore {
			return nil, fmt.Errorf("shape[%d]: want a score from 0 to %d, found %d", i, maxShapeScore, p.Score)
		}
		out = append(out, shapePoint{
			utilization: float64(p.Utilization) / maxUtilization,
			score:       float64(p.Score) * (MaxScore / maxShapeScore),
		})
	}
	return out, nil
}

// at returns the score of a utilization; outside the points, that of the nearest.
func (s shape) at(utilization float64) float64 {
	if utilization <= s[0].utilization {
		return s[0].score
	}
	for i := 1; i < len(s); i++ {
		if from, to := s[i-1], s[i]; utilization <= to.utilization {
			return from.score + (to.score-from.score)*(utilization-from.utilization)/(to.utilization-from.utilization)
		}
	}
	return s[len(s)-1].score
}
