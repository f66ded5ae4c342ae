package snapshot

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
)

// The client's record of requests shows that nothing but lists of nodes and pods was asked for.
func TestListOnlyReads(t *testing.T) {
	pod := func(name, node string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}, Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase}}
	}
	client := fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"),
		}}},
		pod("running", "n1", corev1.PodRunning), pod("waiting", "", corev1.PodPending), pod("ended", "n1", corev1.PodSucceeded),
	)
	set, err := List(t.Context(), client, "kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	list := &faults.List{}
	workload, bound := manifests.ModelPods(set.Expand(list), list)
	if nodes := set.ModelNodes(list); len(nodes) != 1 || nodes[0].CPUMilli != 4000 || list.Err() != nil {
		t.Errorf("want n1 with 4 cores, found %+v and error %v", nodes, list.Err())
	}
	if len(workload) != 1 || workload[0].Name != "waiting" || len(bound) != 1 || bound[0].Name != "running" || bound[0].Node != "n1" {
		t.Errorf("want one pod to place and one that runs, found %+v and %+v", workload, bound)
	}
	for _, action := range client.Actions() {
		if action.GetVerb() != "list" || !slices.Contains([]string{"nodes", "pods"}, action.GetResource().Resource) {
			t.Errorf("want lists of nodes and pods only, found %s of %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
}
