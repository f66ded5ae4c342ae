package cacheaware

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// Reserve counts the pod on its datasets' gateways and remembers that its node becomes warm. It never fails.
func (pl *CacheAware) Reserve(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) *fwk.Status {
	s, err := stateOf(state)
	if err != nil {
		return nil // the pod has no dataset
	}
	pl.load.bound(pod.UID, s.datasets)
	node, ok := pl.nodes.Named(nodeName)
	if !ok {
		node = locality.Node{Name: nodeName} // it went away meanwhile; binding will fail
	}
	if pl.converges() {
		pl.warm(s, pod, node)
	}
	request := locality.NewRequest(s.reaches, pl.rules)
	placement := request.Explain(node)
	pl.metrics.placed(pl.rules.Tiers, request.Reaches(), placement.Terms, len(s.cold))
	klog.FromContext(ctx).V(2).Info("Placed pod by its datasets", "pod", klog.KObj(pod), "node", nodeName,
		"score", placement.Score, "terms", placement.Terms, "cold", s.cold)
	return nil
}

// warm remembers that the pod fetches its datasets to the node and keeps them there. Datasets behind gateways are
// read over the network and do not come to the node.
func (pl *CacheAware) warm(s *podState, pod *corev1.Pod, node locality.Node) {
	missing := s.cold[:len(s.cold):len(s.cold)]
	for _, reach := range s.reaches {
		switch {
		case reach.HasGateway():
		case reach.Distance(node) > 0:
			missing = append(missing, reach.Key)
		default:
			pl.warming.join(reach.Key, node.Name, pod.UID)
		}
	}
	now := pl.clock.Now()
	for _, key := range missing {
		if !pl.warming.add(key, node.Name, pod.UID, now, now.Add(pl.args.ColdData.WarmingTTL.Duration)) {
			pl.metrics.warmingDropped.Inc()
		}
	}
}

// Unreserve takes Reserve back.
func (pl *CacheAware) Unreserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) {
	pl.load.gone(pod.UID)
	if s, err := stateOf(state); err == nil {
		for _, key := range s.datasets {
			pl.warming.takeBack(key, nodeName, pod.UID)
		}
	}
}
