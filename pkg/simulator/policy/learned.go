package policy

import (
	"fmt"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

// learned scores nodes and devices by a trained network, with the features and the quantisation of plugin MLPScore.
type learned struct {
	native  *Native
	network *mlp.Network
	seen    *feature.Range
	// vectors measures with meter, which changes when other pods become the typical ones.
	vectors *feature.Vectors
	meter   *gpushare.Meter

	// Scratch space of one node.
	scratch mlp.Scratch
	rows    []float32
	outputs []float32
	devices []int
}

// learnedFor is the one scorer for nodes and devices.
func (n *Native) learnedFor(config *Config) (*learned, error) {
	if n.learned != nil {
		return n.learned, nil
	}
	if config.Network == nil || config.Network.Inputs() != feature.Inputs || config.Network.Outputs() != 1 {
		return nil, fmt.Errorf("score policy %s: expected a network with %d inputs and one output", MLP, feature.Inputs)
	}
	n.learned = &learned{native: n, network: config.Network, seen: config.Seen}
	return n.learned, nil
}

func (n *Native) learnedScorer(config *Config) (scorer, error) {
	l, err := n.learnedFor(config)
	if err != nil {
		return scorer{}, err
	}
	return scorer{score: l.score, memory: true}, nil
}

// score is what the best device of the node is worth, in hundredths of the network's unit.
func (l *learned) score(node int, c *classKey) int64 {
	score, _ := l.best(node, c)
	return int64(score)
}

// device is the best device for pods that want a part of one.
func (l *learned) device(node int, c *classKey) int {
	_, device := l.best(node, c)
	return device
}

// best evaluates all candidates of the node; of equal ones the first wins.
func (l *learned) best(node int, c *classKey) (score int16, device int) {
	state := l.native.state
	spec := &state.Cluster().Nodes[node]
	if meter := state.Meter(); meter != l.meter {
		l.meter, l.vectors = meter, feature.NewVectors(meter)
	}
	pod := feature.Pod{Class: c.Class, MemoryBytes: c.memoryBytes}
	pod.Frequency.Value, pod.Frequency.Known = l.meter.Frequency(c.Class)
	l.rows, l.devices = l.vectors.Append(l.rows[:0], l.devices[:0], &pod, &feature.Node{
		CPUMilli: spec.CPUMilli, MemoryBytes: spec.MemoryBytes, MemoryFreeBytes: state.MemoryFree(node),
		Free: state.Free(node), Used: state.Pods(node) > 0,
	})
	if l.seen != nil {
		l.seen.Add(l.rows)
	}
	if cap(l.outputs) < len(l.devices) {
		l.outputs = make([]float32, len(l.devices))
	}
	l.outputs = l.network.Forward(l.outputs[:len(l.devices)], &l.scratch, l.rows)
	device = l.devices[0]
	score = mlp.Quantise(l.outputs[0])
	for i, output := range l.outputs {
		if s := mlp.Quantise(output); s > score {
			score, device = s, l.devices[i]
		}
	}
	return score, device
}
