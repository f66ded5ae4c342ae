package state

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// nodesByLabel names the index of nodes by each of their labels as "key=value".
const nodesByLabel = "vicinity.dev/label"

// Nodes finds nodes by name and by label in the scheduler's own node informer.
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
		return asNode(obj)
	}
	return n.Member(locality.Location{Key: corev1.LabelHostname, Value: name})
}

// Member implements [locality.NodeIndex].
func (n *Nodes) Member(at locality.Location) (locality.Node, bool) {
	objs, err := n.indexer.ByIndex(nodesByLabel, at.String())
	if err != nil || len(objs) == 0 {
		return locality.Node{}, false
	}
	return asNode(objs[0])
}

func asNode(obj any) (locality.Node, bool) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return locality.Node{}, false
	}
	return locality.Node{Name: node.Name, Labels: node.Labels}, true
}
