package cacheaware

import (
	"context"
	"slices"

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
	pl.warm(s, pod, node)
	pl.fills.Expect(nodeName, string(pod.UID), s.missing(node), pl.clock.Now())
	request := locality.NewRequest(s.reaches, pl.rules)
	placement := request.Explain(node)
	pl.metrics.placed(pl.rules.Tiers, request.Reaches(), placement.Terms, len(s.cold)+s.unknown)
	klog.FromContext(ctx).V(2).Info("Placed pod by its datasets", "pod", klog.KObj(pod), "node", nodeName,
		"score", placement.Score, "terms", placement.Terms, "cold", s.cold)
	return nil
}

// missing returns how many bytes of datasets of known size the pod will bring to the node.
func (s *podState) missing(node locality.Node) (bytes int64) {
	for _, reach := range s.reaches {
		if slices.Contains(s.warming, reach.Key) {
			bytes += int64(reach.SizeBytes() * (1 - reach.Held(node)))
		}
	}
	return bytes
}

// warm remembers that the pod brings datasets to its node.
func (pl *CacheAware) warm(s *podState, pod *corev1.Pod, node locality.Node) {
	now := pl.clock.Now()
	for _, key := range s.warming {
		held := slices.ContainsFunc(s.reaches, func(r *locality.Reach) bool { return r.Key == key && r.Distance(node) == 0 })
		switch {
		case held:
			pl.warming.join(key, node.Name, pod.UID)
		case !pl.warming.add(key, node.Name, pod.UID, now, now.Add(pl.args.ColdData.WarmingTTL.Duration)):
			pl.metrics.warmingDropped.Inc()
		}
	}
}

// Unreserve takes Reserve back.
func (pl *CacheAware) Unreserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) {
	pl.load.gone(pod.UID)
	pl.fills.TakeBack(nodeName, string(pod.UID))
	if s, err := stateOf(state); err == nil {
		for _, key := range s.warming {
			pl.warming.takeBack(key, nodeName, pod.UID)
		}
	}
}
