package scenario

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// settlingTime is how long the other processes' informers get to see changed objects before a pod is created; see doc.go.
const settlingTime = 250 * time.Millisecond

func (s *session) apply(ctx context.Context, a *format.Apply) error {
	if len(a.CRDs) > 0 {
		if err := s.stack.InstallCRDs(ctx, a.CRDs...); err != nil {
			return err
		}
		s.unsettled = true
	}
	objects, err := objectsOf(a)
	if err != nil {
		return err
	}
	var nodes []string
	for _, obj := range objects {
		if obj.GetKind() == "Node" && obj.GetAPIVersion() == "v1" {
			nodes = append(nodes, obj.GetName())
		} else if len(nodes) > 0 {
			if err := s.stack.WaitNodes(ctx, nodes); err != nil {
				return err
			}
			nodes = nil
		}
		if err := s.applyObject(ctx, obj); err != nil {
			return err
		}
	}
	return s.stack.WaitNodes(ctx, nodes)
}

// objectsOf lists what to apply, the nodes in short form first.
func objectsOf(a *format.Apply) ([]*unstructured.Unstructured, error) {
	objects := make([]*unstructured.Unstructured, 0, len(a.Nodes)+len(a.Objects))
	for i := range a.Nodes {
		obj, err := toNode(&a.Nodes[i]).Unstructured()
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	for _, content := range a.Objects {
		obj := &unstructured.Unstructured{Object: content}
		objects = append(objects, obj.DeepCopy())
	}
	return objects, nil
}

// toNode converts a node of a file.
func toNode(n *format.Node) *localstack.Node {
	node := &localstack.Node{
		Name: n.Name, Zone: n.Zone, Region: n.Region, Rack: n.Rack,
		CPU: n.CPU, Memory: n.Memory, Pods: n.Pods, Resources: corev1.ResourceList{},
		Labels: n.Labels, Annotations: n.Annotations, Unschedulable: n.Unschedulable,
	}
	for name, quantity := range n.Resources {
		node.Resources[corev1.ResourceName(name)] = quantity
	}
	for _, t := range n.Taints {
		node.Taints = append(node.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return node
}

// applyObject writes one object with the scenario's defaults and remembers it for the clean-up.
func (s *session) applyObject(ctx context.Context, obj *unstructured.Unstructured) error {
	if err := s.setNamespace(obj); err != nil {
		return err
	}
	switch {
	case obj.GetAPIVersion() == "v1" && obj.GetKind() == "Node":
		completeNode(obj)
	case obj.GetAPIVersion() == "v1" && obj.GetKind() == "Pod":
		if err := completePod(obj); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	if err := s.stack.Apply(ctx, obj); err != nil {
		return err
	}
	if obj.GetKind() != "Pod" {
		s.unsettled = true
	}
	s.created = append(s.created, obj)
	return nil
}

// settle waits for other processes' informers if something has changed that they look at.
func (s *session) settle(ctx context.Context) error {
	if !s.unsettled {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(settlingTime):
	}
	s.unsettled = false
	return nil
}

// completeNode adds the labels that a node needs to be managed by kwok, unless the scenario sets them itself.
func completeNode(obj *unstructured.Unstructured) {
	labels := localstack.ManagedNodeLabels(obj.GetName())
	maps.Copy(labels, obj.GetLabels())
	obj.SetLabels(labels)
}

// completePod asks for the bundle's scheduler unless the pod names one or is bound already.
func completePod(obj *unstructured.Unstructured) error {
	name, _, err := unstructured.NestedString(obj.Object, "spec", "schedulerName")
	if err != nil {
		return fmt.Errorf("pod %s: %w", obj.GetName(), err)
	}
	if name != "" {
		return nil
	}
	return unstructured.SetNestedField(obj.Object, localstack.DefaultSchedulerName, "spec", "schedulerName")
}
