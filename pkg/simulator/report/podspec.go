package report

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

// specOf is one container with the pod's requests, for pods that were not read from a manifest.
func specOf(p *model.Pod) corev1.PodSpec {
	return corev1.PodSpec{
		NodeSelector: maps.Clone(p.NodeSelector),
		Containers: []corev1.Container{{
			Name: "main", Image: "main",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(p.CPUMilli, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(p.MemoryBytes, resource.BinarySI),
			}},
		}},
	}
}
