package localcluster

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// createNode creates a fake node with 1Gi of memory.
func createNode(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{KwokLabel: KwokManaged}},
		Status: corev1.NodeStatus{
			Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
	}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func setKwokLabel(t *testing.T, client kubernetes.Interface, node, value string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, KwokLabel, value)
	_, err := client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// podOn is a pod that no scheduler needs to look at.
func podOn(node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "on-" + node},
		Spec: corev1.PodSpec{
			NodeName:       node,
			Tolerations:    []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			InitContainers: []corev1.Container{{Name: "before", Image: "none"}},
			Containers:     []corev1.Container{{Name: "main", Image: "none"}},
		},
	}
}

// expectReady checks the status of a node's condition Ready.
func expectReady(ctx context.Context, client kubernetes.Interface, name string, want corev1.ConditionStatus) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == want {
			return nil
		}
	}
	return fmt.Errorf("conditions %v, want Ready to be %s", node.Status.Conditions, want)
}
