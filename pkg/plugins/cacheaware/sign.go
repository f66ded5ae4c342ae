package cacheaware

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// signer is the key of this plugin's part of a pod's signature.
const signer = "vicinity.dev/" + Name

// SignPod lets pods that prefer nearness to the same datasets share one scheduling result, as long as placing one
// of them changes nothing for the next. That is not so where nodes become warm, gateways are loaded, or pods wait;
// those pods, and pods that cannot be read, are refused and scheduled one by one.
func (pl *CacheAware) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	w, err := pl.wish(pod)
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	if len(w.datasets) == 0 {
		return nil, nil
	}
	required := slices.ContainsFunc(w.datasets, func(d wantedDataset) bool { return d.required })
	if required || w.wait > 0 || pl.converges() || pl.args.GatewayLoad.Threshold > 0 {
		return nil, fwk.NewStatus(fwk.Unschedulable, "placing a pod changes where the next one of the same datasets goes")
	}
	names := make([]string, len(w.datasets))
	for i := range w.datasets {
		names[i] = w.datasets[i].key.String()
	}
	slices.Sort(names)
	return []fwk.SignFragment{{Key: signer, Value: names}}, nil
}
