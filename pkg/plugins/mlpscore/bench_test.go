package mlpscore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/feature"
)

// BenchmarkPreScore is PreScore with the built-in model. Nodes have eight GPUs, of which three differ in what they have
// left, so that a pod that asks for a share has several candidates on each node. The deadline is off.
func BenchmarkPreScore(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "manifests", "models", "mlpscore.safetensors"))
	if err != nil {
		b.Fatal(err)
	}
	model, err := feature.DecodeModel(data)
	if err != nil {
		b.Fatal(err)
	}
	args := active()
	args.Deadline.Duration = 1e9
	for _, count := range []int{500, 5000} {
		nodes := make([]fwk.NodeInfo, 0, count)
		for i := range count {
			info := node(fmt.Sprintf("n%05d", i), "96", 8)
			for at, milli := range []string{"300", "500", "1000"} {
				info.AddPodInfo(mustPodInfo(b, pod("4", vicinityv1alpha1.GPUMilliAnnotation, milli, vicinityv1alpha1.GPUIndexAnnotation, fmt.Sprint(at))))
			}
			nodes = append(nodes, info)
		}
		for _, c := range []struct {
			name string
			pod  *corev1.Pod
		}{{"share", pod("4", vicinityv1alpha1.GPUMilliAnnotation, "500")}, {"whole", pod("4", vicinityv1alpha1.GPUCountAnnotation, "1", vicinityv1alpha1.GPUMilliAnnotation, "1000")}} {
			f := newFixture(b, args, clock.RealClock{})
			f.models.model = model
			b.Run(fmt.Sprintf("%d/%s/first-seen", count, c.name), func(b *testing.B) {
				b.ReportAllocs()
				shape := c.pod.DeepCopy()
				for i := 0; b.Loop(); i++ {
					// A shape that no pod had before: another amount of CPU.
					shape.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(4000+i%100_000), resource.DecimalSI)
					f.PreScore(b.Context(), framework.NewCycleState(), shape, nodes)
				}
			})
			b.Run(fmt.Sprintf("%d/%s/one-node-changed", count, c.name), func(b *testing.B) {
				b.ReportAllocs()
				f.PreScore(b.Context(), framework.NewCycleState(), c.pod, nodes)
				for i := 0; b.Loop(); i++ {
					changed := nodes[i%count]
					changed.(*framework.NodeInfo).SetNode(changed.Node()) // a new generation
					f.PreScore(b.Context(), framework.NewCycleState(), c.pod, nodes)
				}
			})
		}
	}
}

func mustPodInfo(b *testing.B, pod *corev1.Pod) fwk.PodInfo {
	b.Helper()
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		b.Fatal(err)
	}
	return info
}
