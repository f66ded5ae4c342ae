package edgedelay

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// reasonNotCloud rejects nodes for pods without a bound when they must be in the cloud.
const reasonNotCloud = "node(s) were not in the cloud, where pods without a delay bound must be"

// Filter rejects nodes that are beyond a bound. Evicting pods would not bring a node nearer, hence
// UnschedulableAndUnresolvable.
func (pl *EdgeDelay) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	s, err := stateOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if s.cloud {
		return pl.filterCloud(info.Node())
	}
	id, known := s.index.ID(info.Node().Name)
	if known && s.allowed.Has(id) {
		pl.metrics.nodes[within].Inc()
		return nil
	}
	for i := range s.checks {
		if c := &s.checks[i]; !known && c.query.OnUnknown != delay.PolicyAllow || known && !c.nodes.Has(id) {
			return pl.reject(c, id, known)
		}
	}
	pl.metrics.nodes[within].Inc()
	return nil // a node that just appeared, and bounds that take nodes of which nothing is known
}

func (pl *EdgeDelay) filterCloud(node *corev1.Node) *fwk.Status {
	if pl.cloud.has(node) {
		return nil
	}
	pl.metrics.nodes[notCloud].Inc()
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reasonNotCloud)
}

// verdict is what Filter makes of a node.
type verdict int

const (
	within verdict = iota
	tooFar
	cut
	unknown
	unmeasured
	uncertain
	otherCluster
	notCloud
	verdicts // their number
)

// reject says which bound a node broke. The text is the same for all nodes that broke it in the same way, because the
// scheduler counts nodes by it.
func (pl *EdgeDelay) reject(c *check, id delay.NodeID, known bool) *fwk.Status {
	v := c.verdict(id, known)
	pl.metrics.nodes[v].Inc()
	reason := c.reasons[v].Load()
	if reason == nil {
		text := c.reason(v)
		reason = &text
		c.reasons[v].Store(reason)
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, *reason)
}

// verdict of a node that is out.
func (c *check) verdict(id delay.NodeID, known bool) verdict {
	if !known {
		return unknown
	}
	if c.radius.Nodes.Has(id) {
		return otherCluster
	}
	switch kind := c.radius.Distance(id).Kind; {
	case kind == delay.Measured:
		return tooFar
	case kind == delay.Cut:
		return cut
	case kind == delay.Unknown:
		return unknown
	case c.query.OnUnknown == delay.PolicyReject:
		return unmeasured
	default:
		return uncertain
	}
}

func (c *check) reason(v verdict) string {
	switch v {
	case otherCluster:
		return fmt.Sprintf("node(s) were in another cluster of nodes than %s at %s", c.name(), c.query.Max)
	case tooFar:
		return fmt.Sprintf("node(s) were farther than %s from %s", c.query.Max, c.name())
	case cut:
		return fmt.Sprintf("node(s) got no answer from %s", c.name())
	case unmeasured:
		return fmt.Sprintf("node(s) had no measured round-trip time to %s", c.name())
	case uncertain:
		return fmt.Sprintf("node(s) were not certainly within %s of %s by estimate", c.query.Max, c.name())
	default:
		return fmt.Sprintf("node(s) had no known round-trip time to %s", c.name())
	}
}
