package localstack

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

// RackLabel tells which rack a node stands in. Zone and region have well-known labels; racks have none.
const RackLabel = "topology.vicinity.dev/rack"

// Node is a fake node in short form. What is absent gets a default that lets small pods fit.
type Node struct {
	// Name is also the node's hostname label.
	Name string `json:"name"`
	// Zone, Region and Rack become topology labels; empty means no label.
	Zone   string `json:"zone"`
	Region string `json:"region"`
	Rack   string `json:"rack"`
	// CPU, Memory and Pods are what pods can ask for; 8, 32Gi and 110 when absent.
	CPU    *resource.Quantity `json:"cpu"`
	Memory *resource.Quantity `json:"memory"`
	Pods   *resource.Quantity `json:"pods"`
	// Resources are further, extended resources.
	Resources corev1.ResourceList `json:"resources"`
	// Labels and Annotations are set as they are.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	// Taints keep pods away that do not tolerate them.
	Taints []corev1.Taint `json:"taints"`
	// Unschedulable cordons the node.
	Unschedulable bool `json:"unschedulable"`
}

// Object is the node for the API server. kwok makes it Ready.
func (n *Node) Object() *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    quantityOr(n.CPU, "8"),
		corev1.ResourceMemory: quantityOr(n.Memory, "32Gi"),
		corev1.ResourcePods:   quantityOr(n.Pods, "110"),
	}
	maps.Copy(resources, n.Resources)
	labels := ManagedNodeLabels(n.Name)
	for key, value := range map[string]string{
		corev1.LabelTopologyZone:   n.Zone,
		corev1.LabelTopologyRegion: n.Region,
		RackLabel:                  n.Rack,
	} {
		if value != "" {
			labels[key] = value
		}
	}
	maps.Copy(labels, n.Labels)
	return &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels, Annotations: maps.Clone(n.Annotations)},
		Spec:       corev1.NodeSpec{Taints: n.Taints, Unschedulable: n.Unschedulable},
		Status:     corev1.NodeStatus{Capacity: resources, Allocatable: resources.DeepCopy()},
	}
}

// Unstructured is the node for server-side apply. What only kwok knows is left out, so that kwok goes on owning it.
func (n *Node) Unstructured() (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(n.Object())
	if err != nil {
		return nil, fmt.Errorf("converting node %s: %w", n.Name, err)
	}
	for _, fields := range [][]string{{"metadata", "creationTimestamp"}, {"status", "nodeInfo"}, {"status", "daemonEndpoints"}} {
		unstructured.RemoveNestedField(content, fields...)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// ManagedNodeLabels are the labels without which a node named name would neither become Ready nor have a hostname.
func ManagedNodeLabels(name string) map[string]string {
	return map[string]string{
		localcluster.KwokLabel: localcluster.KwokManaged,
		corev1.LabelHostname:   name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
	}
}

func quantityOr(q *resource.Quantity, otherwise string) resource.Quantity {
	if q != nil {
		return q.DeepCopy()
	}
	return resource.MustParse(otherwise)
}
