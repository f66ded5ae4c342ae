package edgedelay

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Reserve remembers where the pod is going: the informer shows it only after it is bound.
func (pl *EdgeDelay) Reserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	pl.assume(pod, node)
	return nil
}

// Unreserve forgets it.
func (pl *EdgeDelay) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	pl.forget(pod.UID)
}
