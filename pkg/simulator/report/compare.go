package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// ComparisonSchema names the form of the JSON of two runs.
const ComparisonSchema = "vicinity.simulation.comparison/v1"

// Comparison is two runs of one workload and what is different.
type Comparison struct {
	Schema string    `json:"schema"`
	A      *Document `json:"a"`
	B      *Document `json:"b"`
	// Differences are of B minus A, paired.
	Differences Differences `json:"differences"`
}

// Differences are paired: each compares the same point or pod of both runs.
type Differences struct {
	// Allocation is the difference of the allocated GPU capacity in points, at each arrived percent that both reached.
	Allocation Curve `json:"allocation"`
	// MeanAllocation and its standard error are over the points at which the demand exceeds what either could place.
	MeanAllocation Estimate `json:"meanAllocation"`
	// Pods are counted by what became of them.
	Pods PodDifferences `json:"pods"`
}

// Estimate is a mean of paired differences. StandardError takes the pairs for independent, which neighbours on a curve
// are not: it says how far the difference varies along the curve, not how sure it is.
type Estimate struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standardError"`
	Pairs         int     `json:"pairs"`
}

// PodDifferences counts the pods of both runs.
type PodDifferences struct {
	SameNode      int `json:"sameNode"`
	OtherNode     int `json:"otherNode"`
	OnlyA         int `json:"onlyA"`
	OnlyB         int `json:"onlyB"`
	Neither       int `json:"neither"`
	OnlyInOneRun  int `json:"onlyInOneRun"`
	OtherGPUsOnly int `json:"otherGPUsOnly"`
}

// Compare pairs two runs.
func Compare(a, b *Run) Differences {
	d := Differences{Allocation: Curve{}, Pods: comparePods(a, b)}
	var contended []float64
	for i := range a.Curve {
		at := a.Curve[i].ArrivedPercent
		other, found := b.At(at)
		if !found {
			continue
		}
		difference := other.Allocation - a.Curve[i].Allocation
		d.Allocation = append(d.Allocation, Point{ArrivedPercent: at, Value: rounded(difference)})
		if at >= contendedFrom {
			contended = append(contended, difference)
		}
	}
	d.MeanAllocation = estimate(contended)
	return d
}

// contendedFrom is the arrived percent from which policies can differ at all: below it everything fits.
const contendedFrom = 80

func estimate(differences []float64) Estimate {
	e := Estimate{Pairs: len(differences)}
	if e.Pairs == 0 {
		return e
	}
	sum := 0.0
	for _, d := range differences {
		sum += d
	}
	mean := sum / float64(e.Pairs)
	squares := 0.0
	for _, d := range differences {
		squares += (d - mean) * (d - mean)
	}
	if e.Pairs > 1 {
		e.StandardError = rounded(math.Sqrt(squares / float64(e.Pairs-1) / float64(e.Pairs)))
	}
	e.Mean = rounded(mean)
	return e
}

func comparePods(a, b *Run) PodDifferences {
	inB := map[string]*model.Placement{}
	for i := range b.Placements {
		inB[b.Pods[b.Placements[i].Pod].Key()] = &b.Placements[i]
	}
	var d PodDifferences
	for i := range a.Placements {
		p := &a.Placements[i]
		other := inB[a.Pods[p.Pod].Key()]
		if other == nil {
			d.OnlyInOneRun++
			continue
		}
		delete(inB, a.Pods[p.Pod].Key())
		switch {
		case !p.Scheduled() && !other.Scheduled():
			d.Neither++
		case !other.Scheduled():
			d.OnlyA++
		case !p.Scheduled():
			d.OnlyB++
		case a.Nodes[p.Binding.Node].Name != b.Nodes[other.Binding.Node].Name:
			d.OtherNode++
		case !slices.Equal(p.Binding.GPUs, other.Binding.GPUs):
			d.OtherGPUsOnly++
		default:
			d.SameNode++
		}
	}
	d.OnlyInOneRun += len(inB)
	return d
}

// WriteComparison writes two runs as one object.
func WriteComparison(out io.Writer, a, b *Run, placements bool) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(Comparison{
		Schema: ComparisonSchema, A: ToDocument(a, placements), B: ToDocument(b, placements), Differences: Compare(a, b),
	})
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
