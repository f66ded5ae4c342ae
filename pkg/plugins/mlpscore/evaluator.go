package mlpscore

import (
	"slices"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// evaluator makes vectors of nodes and evaluates the network. It has scratch space, so a goroutine needs its own.
type evaluator struct {
	model   *feature.Model
	meter   *gpushare.Meter
	vectors *feature.Vectors
	reader  nodeReader

	rows    []float32
	devices []int
	// ends holds, for each node of a batch, the number of candidates up to and with it.
	ends    []int
	outputs []float32
	scratch mlp.Scratch
}

// use prepares the evaluator for a model. It is cheap when the model is the same.
func (e *evaluator) use(model *feature.Model) {
	if e.model == model {
		return
	}
	// Cards that no typical pod names are all alike to the fragmentation measure: they share the last place.
	var cards []string
	for i := range model.Typical {
		for card := range strings.SplitSeq(model.Typical[i].Models, "|") {
			if card != "" && !slices.Contains(cards, card) {
				cards = append(cards, card)
			}
		}
	}
	e.model = model
	e.meter = gpushare.NewMeter(model.Typical, append(cards, ""))
	e.vectors = feature.NewVectors(e.meter)
	e.reader.views = map[string]*view{}
	e.reader.fragment = func(free gpushare.Free) float64 {
		amounts := e.meter.Measure(free)
		return amounts.Fragment()
	}
	e.reader.model = func(card string) int {
		if at := slices.Index(cards, card); at >= 0 {
			return at
		}
		return len(cards)
	}
}

func (e *evaluator) reset() { e.rows, e.devices, e.ends = e.rows[:0], e.devices[:0], e.ends[:0] }

// add appends the node's candidates to the batch. A pod that its devices have no room for gets the vector of the node as
// if it took none: who filters by devices is not this plugin.
func (e *evaluator) add(pod *feature.Pod, info fwk.NodeInfo) {
	node := e.reader.read(info)
	before := len(e.devices)
	counted := *pod
	counted.Frequency.Value, counted.Frequency.Known = e.meter.Frequency(pod.Class)
	e.rows, e.devices = e.vectors.Append(e.rows, e.devices, &counted, node)
	if len(e.devices) == before {
		whole := counted
		whole.GPUs, whole.GPUMilli = 0, 0
		e.rows, e.devices = e.vectors.Append(e.rows, e.devices, &whole, node)
	}
	e.ends = append(e.ends, len(e.devices))
}

// run evaluates the batch.
func (e *evaluator) run() {
	e.outputs = slices.Grow(e.outputs[:0], len(e.devices))[:len(e.devices)]
	e.model.Forward(e.outputs, &e.scratch, e.rows)
}

// best is the output of the best candidate of a node of the batch, in hundredths. ok is false when one is not a number.
func (e *evaluator) best(at int) (score int16, ok bool) {
	begin := 0
	if at > 0 {
		begin = e.ends[at-1]
	}
	score, ok = mlp.Quantise(e.outputs[begin]), true
	for _, output := range e.outputs[begin:e.ends[at]] {
		score, ok = max(score, mlp.Quantise(output)), ok && output == output //nolint:gocritic // NaN differs from itself
	}
	return score, ok
}

// fgd is the score of fragmentation gradient descent, 0 to 100, for the node.
func (e *evaluator) fgd(pod *feature.Pod, info fwk.NodeInfo) int16 {
	node := e.reader.read(info)
	if len(node.Free.Idle) == 0 || !gpushare.Fits(&pod.Class, node.Free.Idle) {
		return 0
	}
	amounts := e.meter.Measure(node.Free)
	score, _ := e.meter.Descent(&pod.Class, node.Free, amounts.Fragment())
	return int16(score)
}
