package edgedelay

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
)

// cloud knows which nodes have the cloud role. Where none has it, pods without bounds cost nothing.
type cloud struct {
	selector labels.Selector

	mu    sync.RWMutex
	nodes map[string]struct{}
}

func newCloud(selector labels.Selector) *cloud {
	return &cloud{selector: selector, nodes: map[string]struct{}{}}
}

// watch keeps the cloud up to date.
func (c *cloud) watch(informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.set,
		UpdateFunc: func(_, obj any) { c.set(obj) },
		DeleteFunc: func(obj any) {
			if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
				c.remove(key.Name)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	return nil
}

func (c *cloud) set(obj any) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return
	}
	if !c.has(node) {
		c.remove(node.Name)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[node.Name] = struct{}{}
}

func (c *cloud) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.nodes, name)
}

// exists reports whether any node of the cluster is in the cloud.
func (c *cloud) exists() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.nodes) > 0
}

// has reports whether a node is in the cloud. It does not allocate.
func (c *cloud) has(node *corev1.Node) bool { return c.selector.Matches(labels.Set(node.Labels)) }

// hasSome reports whether one of the nodes is in the cloud.
func (c *cloud) hasSome(nodes []fwk.NodeInfo) bool {
	if !c.exists() {
		return false
	}
	for _, info := range nodes {
		if c.has(info.Node()) {
			return true
		}
	}
	return false
}
