package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Schema names the form of the JSON.
const Schema = "vicinity.simulation/v1"

// Document is the JSON of one run.
type Document struct {
	Schema string `json:"schema"`
	Policy string `json:"policy"`
	Trace  string `json:"trace"`
	Seed   int64  `json:"seed"`
	// Nodes, GPUs and Pods are numbers; Pods counts those that arrived.
	Nodes       int `json:"nodes"`
	GPUs        int `json:"gpus"`
	Pods        int `json:"pods"`
	Scheduled   int `json:"scheduled"`
	Unscheduled int `json:"unscheduled"`
	// Allocation is the allocated part of the GPU capacity in percent by arrived demand in percent; FragRatio is the
	// part of the idle capacity that typical pods cannot use.
	Allocation Curve `json:"allocation"`
	FragRatio  Curve `json:"fragRatio"`
	// WallSeconds is the time that deciding took, without reading the input.
	WallSeconds        float64 `json:"wallSeconds"`
	DecisionsPerSecond float64 `json:"decisionsPerSecond"`
	// Engine is native or framework.
	Engine string `json:"engine"`
	// StallSeconds is how long all pods together waited for data and disks, CrossRackBytes what came from another rack,
	// zone or the store; absent where no pod reads datasets or asks for a disk.
	StallSeconds   *float64 `json:"stallSeconds,omitempty"`
	CrossRackBytes *int64   `json:"crossRackBytes,omitempty"`
	// Placements are in the order of arrival.
	Placements []PlacementJSON `json:"placements,omitempty"`
}

// PlacementJSON is where one pod went.
type PlacementJSON struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Node is the name as in the input; null for a pod that found no node.
	Node *string `json:"node"`
	// GPUs are the indexes of the node's devices; empty without.
	GPUs []int `json:"gpus"`
}

// Curve is a list of values by arrived percent. In JSON it is an object whose keys count up.
type Curve []Point

// Point is one of them.
type Point struct {
	ArrivedPercent int
	Value          float64
}

// MarshalJSON keeps the order of the points, which a map would not.
func (c Curve) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, point := range c {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%q:%s", strconv.Itoa(point.ArrivedPercent), strconv.FormatFloat(point.Value, 'f', -1, 64))
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes, in any order.
func (c *Curve) UnmarshalJSON(data []byte) error {
	var values map[string]float64
	if err := json.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("reading a curve: %w", err)
	}
	*c = nil
	for percent := range maxPercent + 1 {
		if value, found := values[strconv.Itoa(percent)]; found {
			*c = append(*c, Point{ArrivedPercent: percent, Value: value})
			delete(values, strconv.Itoa(percent))
		}
	}
	for key := range values {
		return fmt.Errorf("reading a curve: want whole percents from 0 to %d as keys, found %q", maxPercent, key)
	}
	return nil
}

// maxPercent bounds what a file from elsewhere may hold.
const maxPercent = 100_000

// ToDocument converts a run.
func ToDocument(r *Run, placements bool) *Document {
	scheduled, unscheduled := r.Count()
	d := &Document{
		Schema: Schema, Policy: r.Policy, Trace: r.Trace, Seed: r.Seed,
		Nodes: len(r.Nodes), GPUs: r.TotalGPUs(), Pods: len(r.Placements), Scheduled: scheduled, Unscheduled: unscheduled,
		Allocation:  curveOf(r.Curve, func(p *model.CurvePoint) float64 { return p.Allocation }),
		FragRatio:   curveOf(r.Curve, func(p *model.CurvePoint) float64 { return p.FragRatio }),
		WallSeconds: rounded(r.Wall.Seconds()), DecisionsPerSecond: math.Round(r.DecisionsPerSecond()), Engine: r.Engine,
	}
	if sum, found := r.Stalled(); found {
		d.StallSeconds = new(rounded(sum.Seconds()))
	}
	if sum, found := r.AcrossRacks(); found {
		d.CrossRackBytes = new(sum)
	}
	if placements {
		d.Placements = placementsOf(r)
	}
	return d
}

func curveOf(points []model.CurvePoint, value func(*model.CurvePoint) float64) Curve {
	curve := make(Curve, 0, len(points))
	for i := range points {
		if v := value(&points[i]); !math.IsNaN(v) && !math.IsInf(v, 0) {
			curve = append(curve, Point{ArrivedPercent: points[i].ArrivedPercent, Value: rounded(v)})
		}
	}
	return curve
}

// rounded keeps four digits: more than anybody compares, and a file that can be read.
func rounded(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func placementsOf(r *Run) []PlacementJSON {
	out := make([]PlacementJSON, 0, len(r.Placements))
	for i := range r.Placements {
		p := &r.Placements[i]
		placed := PlacementJSON{Pod: r.Pods[p.Pod].Key(), GPUs: []int{}}
		if p.Scheduled() {
			placed.Node = &r.Nodes[p.Binding.Node].Name
			placed.GPUs = append(placed.GPUs, p.Binding.GPUs...)
		}
		out = append(out, placed)
	}
	return out
}

// WriteJSON writes one run as one object.
func WriteJSON(out io.Writer, r *Run, placements bool) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(ToDocument(r, placements)); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
