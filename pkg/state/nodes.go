package state

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// nodesByLabel names the index of nodes by each of their labels as "key=value".
const nodesByLabel = "vicinity.dev/label"

// Nodes finds usable nodes by name and by label in the scheduler's own node informer.
type Nodes struct {
	indexer cache.Indexer
}

var _ locality.NodeIndex = (*Nodes)(nil)

// NewNodes adds an index over all labels to the scheduler's node informer: a placement may name any of them as
// its topology key. It is to be called once per informer, before that starts.
func NewNodes(informer cache.SharedIndexInformer) (*Nodes, error) {
	if err := informer.AddIndexers(cache.Indexers{nodesByLabel: labelsOfNode}); err != nil {
		return nil, fmt.Errorf("indexing nodes by label: %w", err)
	}
	return &Nodes{indexer: informer.GetIndexer()}, nil
}

func labelsOfNode(obj any) ([]string, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return nil, nil
	}
	entries := make([]string, 0, len(node.Labels))
	for key, value := range node.Labels {
		entries = append(entries, locality.Location{Key: key, Value: value}.String())
	}
	return entries, nil
}

// Named implements [locality.NodeIndex].
func (n *Nodes) Named(name string) (locality.Node, bool) {
	if obj, ok, err := n.indexer.GetByKey(name); err == nil && ok {
		return asUsable(obj)
	}
	return n.Member(locality.OnNode(name))
}

// Member implements [locality.NodeIndex].
func (n *Nodes) Member(at locality.Location) (locality.Node, bool) {
	for _, obj := range n.at(at) {
		if node, ok := asUsable(obj); ok {
			return node, true
		}
	}
	return locality.Node{}, false
}

// at returns every node with the label, usable or not.
func (n *Nodes) at(at locality.Location) []any {
	objs, err := n.indexer.ByIndex(nodesByLabel, at.String())
	if err != nil {
		return nil // only if the index did not exist
	}
	return objs
}

func asUsable(obj any) (locality.Node, bool) {
	node, ok := obj.(*corev1.Node)
	if !ok || node.Spec.Unschedulable {
		return locality.Node{}, false
	}
	for i := range node.Status.Conditions {
		// A node without the condition has not reported yet; the scheduler does not hold that against it either.
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return locality.Node{}, false
		}
	}
	return locality.Node{Name: node.Name, Labels: node.Labels}, true
}
