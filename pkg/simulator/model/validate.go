package model

import (
	"errors"
	"fmt"
)

// Limits of what a simulation accepts. They are far above anything real and keep sums within 64 bits.
const (
	MaxGPUsPerNode = 1024
	maxCPUMilli    = 1 << 40
	maxMemoryBytes = 1 << 52
)

// Validate checks the cluster. The error names each node with a fault and the field, and says what was expected.
func (c *Cluster) Validate() error {
	if len(c.Nodes) == 0 {
		return errors.New("the cluster has no nodes: give at least one")
	}
	var errs []error
	names := make(map[string]int, len(c.Nodes))
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if first, again := names[n.Name]; again {
			errs = append(errs, fmt.Errorf("node %d: name %q is that of node %d, names must be unique", i, n.Name, first))
		}
		names[n.Name] = i
		errs = append(errs, n.validate(i)...)
	}
	return limited(errs)
}

func (n *Node) validate(at int) []error {
	where := fmt.Sprintf("node %d (%s)", at, n.Name)
	errs := []error{
		within(where, "cpu milli", n.CPUMilli, maxCPUMilli),
		within(where, "memory bytes", n.MemoryBytes, maxMemoryBytes),
		within(where, "gpu count", int64(n.GPUs), MaxGPUsPerNode),
		within(where, "pods", int64(n.MaxPods), 1<<31),
	}
	if n.Name == "" {
		errs = append(errs, fmt.Errorf("node %d: name is empty", at))
	}
	return errs
}

// ValidatePods checks the pods of one workload.
func ValidatePods(pods []Pod) error {
	var errs []error
	names := make(map[string]int, len(pods))
	for i := range pods {
		p := &pods[i]
		key := p.Key()
		if first, again := names[key]; again {
			errs = append(errs, fmt.Errorf("pod %d: name %q is that of pod %d, names must be unique", i, key, first))
		}
		names[key] = i
		if err := p.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("pod %d (%s): %w", i, key, err))
		}
	}
	return limited(errs)
}

// Validate checks one pod. Readers use it to add the place in their file to the error.
func (p *Pod) Validate() error {
	errs := []error{
		within("", "cpu milli", p.CPUMilli, maxCPUMilli),
		within("", "memory bytes", p.MemoryBytes, maxMemoryBytes),
		within("", "gpu count", int64(p.GPUs), MaxGPUsPerNode),
		p.validateGPUs(),
	}
	if p.Name == "" {
		errs = append(errs, errors.New("name is empty"))
	}
	if p.Arrival < 0 {
		errs = append(errs, fmt.Errorf("arrival %v is before the trace begins", p.Arrival))
	}
	if p.Departure != 0 && p.Departure < p.Arrival {
		errs = append(errs, fmt.Errorf("departure %v is before the arrival %v", p.Departure, p.Arrival))
	}
	return errors.Join(errs...)
}

func (p *Pod) validateGPUs() error {
	switch {
	case p.GPUs == 0 && p.GPUMilli != 0:
		return fmt.Errorf("gpu milli is %d without a gpu count: set the count to 1", p.GPUMilli)
	case p.GPUs == 0:
	case p.GPUMilli < 1 || p.GPUMilli > GPUMilli:
		return fmt.Errorf("gpu milli is %d, expected 1 to %d per GPU", p.GPUMilli, GPUMilli)
	case p.GPUs > 1 && p.GPUMilli != GPUMilli:
		return fmt.Errorf("gpu count is %d with gpu milli %d: a share of a GPU goes with count 1 only", p.GPUs, p.GPUMilli)
	}
	return p.validateIndexes()
}

func (p *Pod) validateIndexes() error {
	if p.GPUIndexes == nil {
		return nil
	}
	if len(p.GPUIndexes) != p.GPUs {
		return fmt.Errorf("gpu index names %d devices, gpu count is %d", len(p.GPUIndexes), p.GPUs)
	}
	seen := map[int]bool{}
	for _, device := range p.GPUIndexes {
		if device < 0 || seen[device] {
			return fmt.Errorf("gpu index %v: expected different numbers of 0 or more", p.GPUIndexes)
		}
		seen[device] = true
	}
	return nil
}

func within(where, field string, value, most int64) error {
	if value >= 0 && value <= most {
		return nil
	}
	if where != "" {
		where += ": "
	}
	return fmt.Errorf("%s%s is %d, expected 0 to %d", where, field, value, most)
}

// limited joins the first errors: a file with one mistake per line should not fill the screen.
func limited(errs []error) error {
	const shown = 10
	var found []error
	for _, err := range errs {
		if err != nil {
			found = append(found, err)
		}
	}
	if len(found) > shown {
		found = append(found[:shown], fmt.Errorf("and %d more", len(found)-shown))
	}
	return errors.Join(found...)
}
