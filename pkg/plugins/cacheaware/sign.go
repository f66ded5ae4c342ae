package cacheaware

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// signer is the key of this plugin's part of a pod's signature.
const signer = "vicinity.dev/" + Name

// SignPod lets pods that prefer nearness to the same datasets share one scheduling result: placing one of them
// changes no score of another. Pods that cannot be read or whose policy is Required are refused; theirs hangs on
// changes that a reused result would miss.
func (pl *CacheAware) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	w, err := pl.wishOf(pod)
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	if len(w.datasets) == 0 {
		return nil, nil
	}
	if w.policy == vicinityv1alpha1.DatasetPolicyRequired {
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods that require a dataset are scheduled one by one")
	}
	names := make([]string, len(w.datasets))
	for i, dataset := range w.datasets {
		names[i] = dataset.String()
	}
	slices.Sort(names)
	return []fwk.SignFragment{{Key: signer, Value: names}}, nil
}
