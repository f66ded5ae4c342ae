package deschedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/occupancy"
)

// The policies.
const (
	// CosSim takes, from each node that has little CPU but half a GPU left, the pod whose request is least like what
	// the node would have left without it.
	CosSim = "cosSim"
	// FragOnePod takes the pod whose leaving reduces the fragment most, one from each node, the most fragmented first.
	FragOnePod = "fragOnePod"
	// FragMultiPod does the same as often as it helps, always at the node that is most fragmented then.
	FragMultiPod = "fragMultiPod"
)

// Names are the policies.
func Names() []string { return []string{CosSim, FragOnePod, FragMultiPod} }

// Cluster is what pods are evicted from.
type Cluster struct {
	// State is what is free; Evict changes it.
	State *occupancy.State
	// Pods are all pods, Placements theirs.
	Pods       []model.Pod
	Placements []model.Placement
	// Evict takes a pod off its node.
	Evict func(pod int) error
}

// Run evicts at most ratio of the running pods, rounded up. It returns them in the order of their eviction.
func Run(policy string, ratio float64, c *Cluster) ([]int, error) {
	if math.IsNaN(ratio) || ratio < 0 || ratio > 1 {
		return nil, fmt.Errorf("descheduling ratio %v: expected 0 to 1", ratio)
	}
	e := eviction{cluster: c, running: make([][]int, len(c.State.Cluster().Nodes))}
	count := 0
	for i := range c.Placements {
		if p := &c.Placements[i]; p.Scheduled() && !p.HasDeparted {
			e.running[p.Binding.Node] = append(e.running[p.Binding.Node], p.Pod)
			count++
		}
	}
	e.budget = int(math.Ceil(ratio * float64(count)))
	var err error
	switch policy {
	case CosSim:
		err = e.onePerNode(e.byCPU(), e.leastAlike)
	case FragOnePod:
		err = e.onePerNode(e.byFragment(), e.mostFragmenting)
	case FragMultiPod:
		err = e.repeatedly()
	default:
		return nil, fmt.Errorf("descheduling policy %q: expected one of %v", policy, Names())
	}
	return e.victims, err
}

type eviction struct {
	cluster *Cluster
	running [][]int // pods by node
	budget  int
	victims []int
}

// none says that no pod of a node should go.
const none = -1

func (e *eviction) onePerNode(nodes []int, choose func(node int) int) error {
	for _, node := range nodes {
		if e.budget == 0 {
			return nil
		}
		if pod := choose(node); pod != none {
			if err := e.evict(node, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *eviction) evict(node, pod int) error {
	if err := e.cluster.Evict(pod); err != nil {
		return err
	}
	e.budget--
	e.victims = append(e.victims, pod)
	e.running[node] = slices.DeleteFunc(e.running[node], func(other int) bool { return other == pod })
	return nil
}

// cpuStarved is the free CPU below which a node's idle GPUs are of little use.
const cpuStarved = 2000

// byCPU are the nodes without CPU first, and among them those with the most idle GPU capacity.
func (e *eviction) byCPU() []int {
	s := e.cluster.State
	starved := func(node int) int {
		if s.Free(node).CPUMilli < cpuStarved {
			return 0
		}
		return 1
	}
	return e.nodes(func(a, b int) int {
		return cmp.Or(cmp.Compare(starved(a), starved(b)), cmp.Compare(s.IdleGPUMilli(b), s.IdleGPUMilli(a)))
	})
}

// byFragment are the nodes by falling fragment.
func (e *eviction) byFragment() []int {
	s := e.cluster.State
	return e.nodes(func(a, b int) int { return cmp.Compare(s.Frag(b).Fragment(), s.Frag(a).Fragment()) })
}

func (e *eviction) nodes(compare func(a, b int) int) []int {
	nodes := make([]int, len(e.running))
	for i := range nodes {
		nodes[i] = i
	}
	slices.SortStableFunc(nodes, compare)
	return nodes
}

// leastAlike is the pod with the smallest cosine between its request and what would be free without it.
func (e *eviction) leastAlike(node int) int {
	s := e.cluster.State
	free := s.Free(node)
	if len(free.Idle) == 0 || slices.Max(free.Idle) <= model.GPUMilli/2 {
		return none
	}
	victim, least := none, math.Inf(1)
	for _, pod := range e.running[node] {
		spec := &e.cluster.Pods[pod]
		cpu, gpu := float64(spec.CPUMilli), float64(spec.TotalGPUMilli())
		if c := cosine(float64(free.CPUMilli)+cpu, float64(s.IdleGPUMilli(node))+gpu, cpu, gpu); c < least {
			victim, least = pod, c
		}
	}
	return victim
}

// cosine of the angle between two vectors; 0 if one of them has no length.
func cosine(ax, ay, bx, by float64) float64 {
	length := math.Hypot(ax, ay) * math.Hypot(bx, by)
	if length == 0 {
		return 0
	}
	return (ax*bx + ay*by) / length
}

// mostFragmenting is the pod whose leaving reduces the node's fragment most, by at least one milli.
func (e *eviction) mostFragmenting(node int) int {
	s := e.cluster.State
	now := s.Frag(node).Fragment()
	victim, most := none, 0
	for _, pod := range e.running[node] {
		spec, binding := &e.cluster.Pods[pod], &e.cluster.Placements[pod].Binding
		free := s.Free(node)
		without := gpushare.Free{CPUMilli: free.CPUMilli + spec.CPUMilli, Idle: slices.Clone(free.Idle), Model: free.Model}
		for _, device := range binding.GPUs {
			without.Idle[device] += spec.GPUMilli
		}
		amounts := s.Meter().Measure(without)
		if drop := int(now - amounts.Fragment()); drop > most {
			victim, most = pod, drop
		}
	}
	return victim
}

// repeatedly evicts at the most fragmented node until nothing helps.
func (e *eviction) repeatedly() error {
	nodes := e.byFragment()
	for e.budget > 0 && len(nodes) > 0 {
		node := nodes[0]
		pod := e.mostFragmenting(node)
		if pod == none {
			nodes = nodes[1:]
			continue
		}
		if err := e.evict(node, pod); err != nil {
			return err
		}
		// The node goes back to where its fragment, which has shrunk, puts it.
		fragment := e.cluster.State.Frag(node).Fragment()
		at := 1
		for at < len(nodes) && e.cluster.State.Frag(nodes[at]).Fragment() > fragment {
			nodes[at-1] = nodes[at]
			at++
		}
		nodes[at-1] = node
	}
	return nil
}
