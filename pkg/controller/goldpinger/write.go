package goldpinger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// fieldManager owns the entries of Goldpinger's sources, and nothing else.
const fieldManager = "vicinity-goldpinger"

// write writes the objects of the nodes that are due.
func (g *ingester) write(ctx context.Context, known *directory) error {
	exists := func(name string) bool { return known.nodes[name] != nil }
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(g.table.nodes)) {
		row := g.table.nodes[name]
		node := known.nodes[name]
		if node == nil {
			delete(g.table.nodes, name) // its object goes with it
			continue
		}
		now := g.now()
		list := row.entries(now, exists)
		if !row.due(list, now) {
			continue
		}
		row.attemptedAt = now
		if err := g.writeNode(ctx, node, row, exists); err != nil {
			errs = append(errs, fmt.Errorf("%w: NodeRTT %s: %w", errWrite, name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// writeNode writes one object. What is known before this process has written is what another one wrote last.
func (g *ingester) writeNode(ctx context.Context, node *corev1.Node, row *nodeRow, exists func(string) bool) error {
	if !row.inherited {
		var object vicinityv1alpha1.NodeRTT
		if err := g.read(ctx, node.Name, &object); err != nil {
			return err
		}
		row.inherit(object.Status.Peers)
	}
	list := row.entries(g.now(), exists)
	status := vicinityv1alpha1.NodeRTT{Status: vicinityv1alpha1.NodeRTTStatus{Peers: list}}
	err := g.applyStatus(ctx, node.Name, status)
	if apierrors.IsNotFound(err) {
		owned := vicinityv1alpha1.NodeRTT{ObjectMeta: metav1.ObjectMeta{
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		}}
		object, encodeErr := encode(node.Name, owned)
		if encodeErr != nil {
			return encodeErr
		}
		if err := g.cached.Apply(ctx, object, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return err
		}
		err = g.applyStatus(ctx, node.Name, status)
	}
	if err != nil {
		return err
	}
	row.wrote(list, g.now())
	return nil
}

// read gets an object past the cache: objects are read once each, and watching all would cost memory.
func (g *ingester) read(ctx context.Context, name string, into *vicinityv1alpha1.NodeRTT) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(vicinityv1alpha1.GroupVersion().WithKind("NodeRTT"))
	err := g.direct.Get(ctx, client.ObjectKey{Name: name}, object)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

func (g *ingester) applyStatus(ctx context.Context, name string, rtt vicinityv1alpha1.NodeRTT) error {
	object, err := encode(name, rtt)
	if err != nil {
		return err
	}
	return g.cached.Status().Apply(ctx, object, client.FieldOwner(fieldManager), client.ForceOwnership)
}

func encode(name string, rtt vicinityv1alpha1.NodeRTT) (runtime.ApplyConfiguration, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rtt)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(vicinityv1alpha1.GroupVersion().WithKind("NodeRTT"))
	u.SetName(name)
	return client.ApplyConfigurationFromUnstructured(u), nil
}
