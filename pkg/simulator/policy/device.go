package policy

import (
	"fmt"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// devices chooses the devices on a node that has room. Pods with whole GPUs get the first ones that are idle, for
// those are all alike.
func (n *Native) devices(node int, spec *model.Pod, class *classKey) []int {
	if spec.GPUIndexes != nil {
		return slices.Sorted(slices.Values(spec.GPUIndexes))
	}
	if !class.Shared() {
		return gpushare.Take(&class.Class, slices.Clone(n.state.Free(node).Idle))
	}
	return []int{n.device(node, class)}
}

// deviceChoice is the method of the configuration.
func (n *Native) deviceChoice(config *Config) (func(int, *classKey) int, error) {
	idle := func(node int) []int { return n.state.Free(node).Idle }
	switch config.Device {
	case "", DeviceBest:
		return func(node int, c *classKey) int { return gpushare.BestFit(idle(node), c.GPUMilli) }, nil
	case DeviceWorst:
		return func(node int, c *classKey) int { return gpushare.WorstFit(idle(node), c.GPUMilli) }, nil
	case DeviceRandom:
		return func(node int, c *classKey) int {
			room := gpushare.WithRoom(nil, idle(node), c.GPUMilli)
			return room[n.rand.Intn(len(room))]
		}, nil
	case FGD:
		return n.descentDevice, nil
	case DotProduct:
		d, err := n.dotProduct(n.dotProductConfig(config))
		if err != nil {
			return nil, err
		}
		return d.device, nil
	case MLP:
		l, err := n.learnedFor(config)
		if err != nil {
			return nil, err
		}
		n.memory = true
		return l.device, nil
	default:
		return nil, fmt.Errorf("device choice %q: expected %s, %s, %s, %s, %s or %s",
			config.Device, DeviceBest, DeviceWorst, DeviceRandom, FGD, DotProduct, MLP)
	}
}

// dotProductConfig is the configured dot product, for choosing devices as nodes are chosen.
func (n *Native) dotProductConfig(config *Config) *Scorer {
	for i := range config.Scorers {
		if config.Scorers[i].Name == DotProduct {
			return &config.Scorers[i]
		}
	}
	return &Scorer{Name: DotProduct, DimExt: config.DeviceDimExt, Norm: config.DeviceNorm}
}
