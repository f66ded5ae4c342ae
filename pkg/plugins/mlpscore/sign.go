package mlpscore

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// signer is the key of this plugin's part of a pod's signature.
const signer = "vicinity.dev/" + Name

// SignPod signs what the network sees of the pod. A server may look at anything, so pods that it scores are not signed.
func (pl *MLPScore) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if pl.args.Mode != configv1.MLPScoreActive {
		return nil, nil
	}
	if pl.server != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, "scored by a server")
	}
	// What cannot be read counts as no demand, for all pods with the same fault alike.
	p, _ := podOf(pod)
	return []fwk.SignFragment{{Key: signer, Value: p}}, nil
}
