package mlpscore

import (
	"cmp"
	"math"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// explainKey is where PreScore leaves what explains scores to whoever records them.
const explainKey = fwk.StateKey(trace.ExplainKeyPrefix + Name)

// topFeatures is how many features of a node are named.
const topFeatures = 5

// NodeInfos finds a node of the snapshot that is being scheduled on.
type NodeInfos func(name string) (fwk.NodeInfo, error)

// explainer says which features made a node's score what it is.
type explainer struct {
	*podState
	pl *MLPScore
}

var _ trace.Explainer = (*explainer)(nil)

// Clone returns the receiver: nothing changes it.
func (e *explainer) Clone() fwk.StateData { return e }

// Explain returns the network's output and the features that it depends on most: by how much the output would be lower
// if the feature were unknown. The parts do not sum up to the output, because a network is no sum.
func (e *explainer) Explain(node string) []trace.Term {
	if e.fallback || e.scores != nil {
		return nil
	}
	info, err := e.pl.nodes(node)
	if err != nil {
		return nil
	}
	output, parts := e.pl.outputs.parts(e.model, &e.pod, info)
	terms := []trace.Term{{Name: "output", Value: output, Unit: "points"}}
	for _, part := range parts[:min(topFeatures, len(parts))] {
		terms = append(terms, trace.Term{Name: part.name, Value: part.points, Unit: "points"})
	}
	return terms
}

// part is what one feature is worth for a node, in hundredths of the network's unit.
type part struct {
	name   string
	points float64
}

// parts evaluates the network for the node's best candidate as it is, and once more without each of its known features.
func (o *outputs) parts(model *feature.Model, pod *feature.Pod, info fwk.NodeInfo) (output float64, parts []part) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := &o.evaluator
	e.use(model)
	e.reset()
	e.add(pod, info)
	e.run()
	best := 0
	for i, value := range e.outputs {
		if value > e.outputs[best] {
			best = i
		}
	}
	output = float64(e.outputs[best])
	row := slices.Clone(e.rows[best*feature.Inputs : (best+1)*feature.Inputs])
	e.reset()
	for i := range feature.Count {
		e.rows = append(e.rows, row...)
		e.rows[i*feature.Inputs+i], e.rows[i*feature.Inputs+feature.Count+i] = 0, 0
		e.devices = append(e.devices, i)
	}
	e.run()
	for i, f := range feature.Schema() {
		if row[feature.Count+i] == 1 {
			parts = append(parts, part{name: f.Name, points: hundredths(output - float64(e.outputs[i]))})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(math.Abs(b.points), math.Abs(a.points)) })
	return hundredths(output), parts
}

// hundredths rounds to a tenth of the unit that scores are compared in: more digits would only look exact.
func hundredths(value float64) float64 { return math.Round(value*1000) / 10 }
