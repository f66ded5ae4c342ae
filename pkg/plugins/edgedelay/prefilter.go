package edgedelay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// stateKey is where PreFilter leaves its findings for the later extension points.
const stateKey = fwk.StateKey("PreFilter" + Name)

// podState is written once, by PreFilter, and read only from then on.
type podState struct {
	index *delay.Index
	// allowed are the nodes within all required bounds; it means nothing unless there are checks.
	allowed delay.Bits
	checks  []check
	terms   []*delay.Radius // of all bounds, for their margins
	demand  *demand         // of other pods that need nodes more
	cloud   bool            // the pod must be in the cloud
}

// check is one required bound, to one reference.
type check struct {
	need
	radius *delay.Radius
	nodes  delay.Bits // those within: the radius', or fewer of them with clustering
	// reasons are made when they are needed first: few of many references reject nodes.
	reasons *[verdicts]atomic.Pointer[string]
}

// Clone returns the receiver: nothing changes it after PreFilter.
func (s *podState) Clone() fwk.StateData { return s }

func stateOf(state fwk.CycleState) (*podState, error) {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil, fmt.Errorf("reading %q from the cycle state: %w", stateKey, err)
	}
	s, ok := data.(*podState)
	if !ok {
		return nil, fmt.Errorf("reading %q from the cycle state: want *podState, found %T", stateKey, data)
	}
	return s, nil
}

// notFound reports that no earlier extension point left anything.
func notFound(err error) bool { return errors.Is(err, fwk.ErrNotFound) }

// PreFilter finds the nodes within the pod's bounds. It returns Skip, so that Filter is not run, for pods that require
// nothing.
func (pl *EdgeDelay) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	bounds, err := vicinityv1alpha1.DelayBoundsOf(pod.Labels, pod.Annotations)
	if err != nil {
		pl.metrics.rejectedPods(podMalformed)
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if len(bounds) == 0 {
		return nil, pl.unconstrained(state)
	}
	now := pl.clock.Now()
	s := &podState{index: pl.store.Index()}
	for i := range bounds {
		bound := &bounds[i]
		if err := pl.bind(s, pod, bound, now); err != nil {
			if !bound.Required {
				continue // what is only preferred and cannot be had is left out
			}
			pl.metrics.rejectedPods(podWaits)
			return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, bound.Origin+": "+err.Error())
		}
	}
	pl.intersect(s, now)
	state.Write(stateKey, s)
	if len(s.checks) == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

// unconstrained ends PreFilter for pods without bounds.
func (pl *EdgeDelay) unconstrained(state fwk.CycleState) *fwk.Status {
	if pl.args.UnconstrainedPods == configv1.UnconstrainedRequireCloud {
		state.Write(stateKey, &podState{cloud: true})
		return nil
	}
	return fwk.NewStatus(fwk.Skip)
}

// bind adds a bound to the state.
func (pl *EdgeDelay) bind(s *podState, pod *corev1.Pod, bound *vicinityv1alpha1.DelayBound, now time.Time) error {
	found, err := pl.find(pod, bound)
	if err != nil {
		return err
	}
	query := pl.query(bound)
	needs := make([]need, 0, len(found.refs)+1)
	if found.zone != "" {
		needs = append(needs, need{zone: found.zone, query: query})
	}
	for _, ref := range found.refs {
		needs = append(needs, need{ref: ref, query: query})
	}
	if bound.Required {
		// Before looking, so that no change is missed in between.
		pl.awaitChange(pod, s, needs)
	}
	for _, n := range needs {
		radius, nodes, err := pl.nodesWithin(n, now)
		if err != nil {
			return err
		}
		s.terms = append(s.terms, radius)
		if !bound.Required {
			continue
		}
		pl.watch.saw(n, nodes)
		s.checks = append(s.checks, check{need: n, radius: radius, nodes: nodes, reasons: &[verdicts]atomic.Pointer[string]{}})
	}
	return nil
}

// awaitChange lets the pod be tried again when one of the sets that it needs gains a node.
func (pl *EdgeDelay) awaitChange(pod *corev1.Pod, s *podState, needs []need) {
	all := make([]need, 0, len(s.checks)+len(needs))
	for i := range s.checks {
		all = append(all, s.checks[i].need)
	}
	all = append(all, needs...)
	pl.waiting.Add(pod, all, 0)
	pl.watch.await(needs)
}

// nodesWithin returns the nodes within a bound as they are now, and the radius that they are taken from.
func (pl *EdgeDelay) nodesWithin(n need, now time.Time) (*delay.Radius, delay.Bits, error) {
	if n.zone != "" {
		radius := pl.store.ZoneRadius(n.zone, n.query)
		return radius, radius.Nodes, nil
	}
	radius, ok := pl.store.Radius(n.ref, n.query, now)
	if !ok {
		return nil, nil, fmt.Errorf("round-trip times to %q are not known yet; the pod waits for them", n.name())
	}
	if _, endpoint := delay.EndpointOf(n.ref); pl.layers == nil || endpoint {
		return radius, radius.Nodes, nil
	}
	cluster, err := pl.layers.Cluster(n.ref, n.query.Max, now)
	if err != nil {
		return nil, nil, fmt.Errorf("clustering Layers: %w", err)
	}
	return radius, radius.Nodes.And(cluster), nil
}

// intersect works out which nodes are within all required bounds, and which of them others need more.
func (pl *EdgeDelay) intersect(s *podState, now time.Time) {
	if len(s.checks) > 0 {
		s.allowed = s.checks[0].nodes
		for i := range s.checks[1:] {
			s.allowed = s.allowed.And(s.checks[i+1].nodes)
		}
		size := s.allowed.Count()
		s.demand = newDemand(pl.store.Scarce(size, maxScarce, now), size)
	}
}

// maxScarce bounds how many sets of scarce nodes are looked at for a pod.
const maxScarce = 16

// PreFilterExtensions returns nil: other pods do not change how far nodes are from each other.
func (pl *EdgeDelay) PreFilterExtensions() fwk.PreFilterExtensions { return nil }
