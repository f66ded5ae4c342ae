package diskio

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// signer is the key of this plugin's part of a pod's signature.
const signer = "vicinity.dev/" + Name

// signature is what decides where a pod may go: pods with the same demands share one scheduling result, because placing
// one of them changes what is left on its own node only, and the framework looks at that node again.
type signature struct {
	Demands  []vicinityv1alpha1.BlockIODemand
	Required bool
	Listed   bool
}

// SignPod signs the pod's demands.
func (pl *DiskIO) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	demands, required, err := vicinityv1alpha1.BlockIOOf(pod.Annotations)
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	// Which volumes are meant is part of another plugin's signature.
	return []fwk.SignFragment{{Key: signer, Value: signature{Demands: demands, Required: required, Listed: pl.listed(pod)}}}, nil
}
