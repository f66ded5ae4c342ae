package edgedelay

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// signer is the key of this plugin's part of a pod's signature.
const signer = "vicinity.dev/" + Name

// SignPod signs pods whose bounds are to nodes, zones and endpoints: placing one of them brings nothing nearer to the
// next. Bounds to pods are refused, and so are those that cannot be read.
func (pl *EdgeDelay) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	bounds, err := vicinityv1alpha1.DelayBoundsOf(pod.Labels, pod.Annotations)
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	if len(bounds) == 0 {
		return nil, nil
	}
	signed := make([]string, 0, len(bounds))
	for i := range bounds {
		bound := &bounds[i]
		switch bound.To.Kind {
		case vicinityv1alpha1.DelayToNode, vicinityv1alpha1.DelayToZone, vicinityv1alpha1.DelayToEndpoint:
		case vicinityv1alpha1.DelayToReference:
			if pl.knowsNode(bound.To.Name) {
				break
			}
			fallthrough
		default:
			return nil, fwk.NewStatus(fwk.Unschedulable, "placing a pod changes where pods go that are bound to it")
		}
		signed = append(signed, fmt.Sprint(bound.To.Kind, bound.To.Name, pl.query(bound), bound.Required))
	}
	slices.Sort(signed)
	return []fwk.SignFragment{{Key: signer, Value: signed}}, nil
}
