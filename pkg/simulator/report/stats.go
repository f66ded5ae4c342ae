package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// Distribution is sorted times.
type Distribution []time.Duration

// Quantile is the smallest value that a part q, 0..1, of all values does not exceed; 0 of none.
func (d Distribution) Quantile(q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	at := int(math.Ceil(q*float64(len(d)))) - 1
	return d[min(max(at, 0), len(d)-1)]
}

// Pending is how long pods waited until they were placed; those that never were are not in it.
func (r *Run) Pending() Distribution {
	return r.times(func(p *model.Placement) (time.Duration, bool) { return p.Placed - p.Arrived, p.Scheduled() })
}

// Completion is how long pods took from their arrival to their end; those that did not end are not in it.
func (r *Run) Completion() Distribution {
	return r.times(func(p *model.Placement) (time.Duration, bool) { return p.Departed - p.Arrived, p.HasDeparted })
}

func (r *Run) times(of func(*model.Placement) (time.Duration, bool)) Distribution {
	var all Distribution
	for i := range r.Placements {
		if t, ok := of(&r.Placements[i]); ok {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// Timed says whether the trace has times. Without, waiting and completion mean nothing.
func (r *Run) Timed() bool {
	return slices.ContainsFunc(r.Pods, func(p model.Pod) bool { return p.Timed() })
}

// Group is what became of the pods of one user or class.
type Group struct {
	Name            string
	Pods, Scheduled int
	// GPUMilli is what the group asked for, and Placed what it got of it.
	GPUMilli, PlacedMilli int64
}

// Served is the part of the group's demand that was placed: of its GPUs, or of its pods if it wants none.
func (g *Group) Served() float64 {
	if g.GPUMilli > 0 {
		return float64(g.PlacedMilli) / float64(g.GPUMilli)
	}
	return float64(g.Scheduled) / float64(g.Pods)
}

// qosLabel is the class of service of pods of the openb trace, all of which are in one namespace.
const qosLabel = "openb/qos"

// Groups sorts pods by namespace, or by class of service if there is one namespace only; those with most pods first.
func (r *Run) Groups() []Group {
	byNamespace := r.groups(func(p *model.Pod) string { return p.Namespace })
	if len(byNamespace) > 1 {
		return byNamespace
	}
	return r.groups(func(p *model.Pod) string {
		if class := p.Labels[qosLabel]; class != "" {
			return class
		}
		return p.Namespace
	})
}

func (r *Run) groups(key func(*model.Pod) string) []Group {
	at := map[string]int{}
	var groups []Group
	for i := range r.Placements {
		pod := &r.Pods[r.Placements[i].Pod]
		name := key(pod)
		index, found := at[name]
		if !found {
			index = len(groups)
			at[name] = index
			groups = append(groups, Group{Name: name})
		}
		g := &groups[index]
		g.Pods++
		g.GPUMilli += pod.TotalGPUMilli()
		if r.Placements[i].Scheduled() {
			g.Scheduled++
			g.PlacedMilli += pod.TotalGPUMilli()
		}
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Name, b.Name)) })
	return groups
}

// Fairness is Jain's index over the served parts of all groups: 1 when all are served alike, 1/n when one of n gets
// everything (Jain, Chiu, Hawe: "A Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984).
func Fairness(groups []Group) float64 {
	var sum, squares float64
	for i := range groups {
		s := groups[i].Served()
		sum += s
		squares += s * s
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(groups)) * squares)
}
