package mlpscore

import (
	"sync"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
)

const (
	// maxClasses bounds the shapes of pods whose outputs are kept. Beyond it all are forgotten: a cluster whose pods have
	// so many shapes gains little from keeping them.
	maxClasses = 256
	// batch is how many nodes are evaluated between two looks at the clock.
	batch = 32
)

// outputs keeps what the network gave for a shape of pods on a node, for as long as the node has not changed. It is
// written by PreScore, of which there is one at a time in a profile, and read by Score; the lock is for Score without
// PreScore.
type outputs struct {
	metrics *Metrics

	mu        sync.Mutex
	evaluator evaluator
	model     *feature.Model
	classes   map[feature.Pod]class
	dirty     []fwk.NodeInfo
}

// class holds the outputs for one shape of pods, by node.
type class map[string]entry

type entry struct {
	generation int64
	score      int16
	// valid is false when the network gave no number.
	valid bool
}

func newOutputs(metrics *Metrics) *outputs {
	return &outputs{metrics: metrics, classes: map[feature.Pod]class{}}
}

// prepare makes sure that the outputs for all nodes are there, and returns false if the deadline passed before.
func (o *outputs) prepare(
	model *feature.Model, pod *feature.Pod, nodes []fwk.NodeInfo, now clock.PassiveClock, deadline time.Duration,
) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.classFor(model, pod, len(nodes))
	o.dirty = o.dirty[:0]
	for _, info := range nodes {
		if e, ok := kept[info.Node().Name]; !ok || e.generation != info.GetGeneration() {
			o.dirty = append(o.dirty, info)
		}
	}
	start := now.Now()
	for len(o.dirty) > 0 {
		part := o.dirty[:min(batch, len(o.dirty))]
		o.evaluate(kept, pod, part)
		o.dirty = o.dirty[len(part):]
		if now.Since(start) > deadline {
			// What is done is kept: the next pod of this shape has less left to do.
			return len(o.dirty) == 0
		}
	}
	return true
}

// classFor returns the outputs for a shape of pods, with room for so many nodes if there are none yet.
func (o *outputs) classFor(model *feature.Model, pod *feature.Pod, nodes int) class {
	if o.model != model || len(o.classes) >= maxClasses {
		o.model = model
		clear(o.classes)
	}
	o.evaluator.use(model)
	kept, ok := o.classes[*pod]
	if !ok {
		kept = make(class, nodes)
		o.classes[*pod] = kept
	}
	return kept
}

func (o *outputs) evaluate(kept class, pod *feature.Pod, nodes []fwk.NodeInfo) {
	o.evaluator.reset()
	for _, info := range nodes {
		o.evaluator.add(pod, info)
	}
	o.evaluator.run()
	o.metrics.evaluated(o.model.Model, o.evaluator.rows)
	for i, info := range nodes {
		score, ok := o.evaluator.best(i)
		kept[info.Node().Name] = entry{generation: info.GetGeneration(), score: score, valid: ok}
	}
}

// one is the output for a node, which is evaluated when it is not there.
func (o *outputs) one(model *feature.Model, pod *feature.Pod, info fwk.NodeInfo) (score int16, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.classFor(model, pod, 1)
	e, found := kept[info.Node().Name]
	if !found || e.generation != info.GetGeneration() {
		o.evaluate(kept, pod, []fwk.NodeInfo{info})
		e = kept[info.Node().Name]
	}
	return e.score, e.valid
}

// fallback is the fallback's score of a node.
func (o *outputs) fallback(model *feature.Model, pod *feature.Pod, info fwk.NodeInfo) int16 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.evaluator.use(model)
	return o.evaluator.fgd(pod, info)
}
