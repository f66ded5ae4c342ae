package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/dice"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/engine"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/world"
)

// maxScore is the best score of one policy.
const maxScore = 100

// Native decides by score policies in this package. It belongs to one goroutine.
type Native struct {
	state   *occupancy.State
	world   *world.World
	rand    *dice.Rand
	scorers []scorer
	weights []int64
	device  func(node int, class *classKey) int
	random  bool // ties are drawn
	caches  map[classKey]*cache
	memory  bool     // something depends on the requested memory
	learned *learned // nil until a configuration names MLP

	// Scratch space of one decision.
	feasible []int
	raw, sum []int64
	costs    []float64
	spec     *model.Pod
}

// classKey is all of a pod that scores depend on.
type classKey struct {
	gpushare.Class
	memoryBytes int64
}

// cache holds the scores of one class of pods, valid for one version of each node.
type cache struct {
	key      classKey
	scores   [][]int16 // by scorer and node
	versions [][]uint32
}

// New makes the policy for an experiment. It is an error if the configuration names what does not exist.
func New(config *Config, setup *engine.Setup) (*Native, error) {
	n := &Native{state: setup.State, world: setup.World, rand: setup.Rand, caches: map[classKey]*cache{}}
	if err := n.addScorers(config); err != nil {
		return nil, err
	}
	switch config.TieBreak {
	case "", TieFirstByName:
	case TieRandom:
		n.random = true
	default:
		return nil, fmt.Errorf("tie break %q: expected %s or %s", config.TieBreak, TieFirstByName, TieRandom)
	}
	device, err := n.deviceChoice(config)
	if err != nil {
		return nil, err
	}
	n.device = device
	return n, nil
}

// Scheduler makes a constructor for engines.
func Scheduler(config *Config) engine.NewScheduler {
	return func(_ context.Context, setup *engine.Setup) (engine.Scheduler, error) {
		return New(config, setup)
	}
}

func (n *Native) addScorers(config *Config) error {
	if len(config.Scorers) == 0 {
		return fmt.Errorf("no score policy: expected at least one of %s", strings.Join(Names(), ", "))
	}
	for i := range config.Scorers {
		c := &config.Scorers[i]
		s, err := n.scorer(c, config)
		if err != nil {
			return err
		}
		if c.Weight < 1 || c.Weight > maxWeight {
			return fmt.Errorf("weight of %s is %d, expected 1 to %d", c.Name, c.Weight, maxWeight)
		}
		n.scorers = append(n.scorers, s)
		n.memory = n.memory || s.memory
		n.weights = append(n.weights, c.Weight)
	}
	return nil
}

// maxWeight keeps weighted sums far below 64 bits.
const maxWeight = 1 << 40

// ClassOf is the pod's shape as fragmentation sees it.
func ClassOf(pod *model.Pod) gpushare.Class {
	return gpushare.Class{
		CPUMilli: pod.CPUMilli, GPUs: pod.GPUs, GPUMilli: pod.GPUMilli, Models: strings.Join(pod.GPUModels, "|"),
	}
}

// Schedule implements [engine.Scheduler].
func (n *Native) Schedule(_ context.Context, _ int, spec *model.Pod) (model.Binding, error) {
	wish := n.state.Wish(spec)
	n.feasible = n.state.Feasible(n.feasible[:0], &wish)
	if len(n.feasible) == 0 {
		return model.Binding{}, fmt.Errorf("%w: %s", engine.ErrNoFit, n.state.Shortage(&wish))
	}
	cache := n.cacheOf(spec)
	at := n.feasible[n.best(cache)]
	return model.Binding{Node: at, GPUs: n.devices(at, spec, &cache.key)}, nil
}

// Assume implements [engine.Scheduler]: the state that the policy reads is the engine's.
func (n *Native) Assume(int, *model.Pod, model.Binding) error { return nil }

// Remove implements [engine.Scheduler].
func (n *Native) Remove(int, *model.Pod, model.Binding) error { return nil }

// SetDown implements [engine.Drainer]: the state that the policy reads knows.
func (n *Native) SetDown(int, bool) error { return nil }

// Helps implements [engine.Hinter]: a pod that fits nowhere can only fit where something has changed.
func (n *Native) Helps(node, _ int, spec *model.Pod) bool {
	wish := n.state.Wish(spec)
	return n.state.Fits(node, &wish)
}

// cacheOf begins a decision: it remembers the pod for what is not kept, and finds what is.
func (n *Native) cacheOf(spec *model.Pod) *cache {
	n.spec = spec
	key := classKey{Class: ClassOf(spec)}
	if n.memory {
		key.memoryBytes = spec.MemoryBytes
	}
	c := n.caches[key]
	if c == nil {
		nodes := len(n.state.Cluster().Nodes)
		c = &cache{key: key}
		for range n.scorers {
			c.scores = append(c.scores, make([]int16, nodes))
			c.versions = append(c.versions, make([]uint32, nodes))
		}
		n.caches[key] = c
	}
	return c
}

// best is the position in feasible of the node with the highest weighted score.
func (n *Native) best(c *cache) int {
	if len(n.feasible) == 1 {
		return 0 // as kube-scheduler does, which then asks no scorer: it matters to those that draw
	}
	n.weigh(c)
	if n.random {
		return n.bestAtRandom()
	}
	best := 0
	for at, score := range n.sum {
		if score > n.sum[best] {
			best = at
		}
	}
	return best
}

// weigh fills sum with the weighted scores of the feasible nodes.
func (n *Native) weigh(c *cache) {
	n.sum = append(n.sum[:0], make([]int64, len(n.feasible))...)
	for i := range n.scorers {
		n.score(c, i)
		for at, score := range n.raw {
			n.sum[at] += n.weights[i] * score
		}
	}
}

// bestAtRandom draws among equals in one pass, as kube-scheduler does: each further equal replaces the choice with
// probability one in the number of equals so far.
func (n *Native) bestAtRandom() int {
	best, equals := 0, 1
	for at := 1; at < len(n.sum); at++ {
		switch {
		case n.sum[at] > n.sum[best]:
			best, equals = at, 1
		case n.sum[at] == n.sum[best]:
			equals++
			if n.rand.Intn(equals) == 0 {
				best = at
			}
		}
	}
	return best
}

// score fills raw with one policy's scores of the feasible nodes.
func (n *Native) score(c *cache, at int) {
	n.raw = append(n.raw[:0], make([]int64, len(n.feasible))...)
	s := &n.scorers[at]
	if s.draw {
		n.raw[n.rand.Intn(len(n.raw))] = maxScore
		return
	}
	if s.cost != nil {
		n.rate(s.cost)
		return
	}
	scores, versions := c.scores[at], c.versions[at]
	for i, node := range n.feasible {
		if version := n.state.Version(node); versions[node] != version {
			versions[node] = version
			scores[node] = int16(s.score(node, &c.key))
		}
		n.raw[i] = int64(scores[node])
	}
	if s.minMax {
		stretch(n.raw)
	}
}

// stretch maps the scores onto 0..100; if all are equal they become 0.
func stretch(scores []int64) {
	least, most := slices.Min(scores), slices.Max(scores)
	for i := range scores {
		if most == least {
			scores[i] = 0
		} else {
			scores[i] = (scores[i] - least) * maxScore / (most - least)
		}
	}
}
