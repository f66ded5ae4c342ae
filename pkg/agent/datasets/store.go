package datasets

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	// fieldManager owns the fields that the agent writes.
	fieldManager = "vicinity-agent"

	kindOfCache = "NodeDatasetCache"

	// A report takes four requests at most, and there are four reports a minute at most.
	requestsPerSecond = 5
)

// objectStore keeps the report in the NodeDatasetCache of the node. It uses no discovery: thousands of agents that start
// at once would each ask for all that the API server has.
type objectStore struct {
	node      string
	caches    dynamic.ResourceInterface
	nodes     metadata.Getter
	closeIdle func()

	// applied says that the object was created, or given its owner, by this process.
	applied bool
}

func newObjectStore(config *rest.Config, node string) (*objectStore, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = requestsPerSecond, requestsPerSecond
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	// Of a Node only the UID is needed, and the rest can be large.
	headers, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), client)
	if err != nil {
		return nil, err
	}
	return &objectStore{
		node:      node,
		caches:    objects.Resource(vicinityv1alpha1.GroupVersion().WithResource("nodedatasetcaches")),
		nodes:     headers.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}),
		closeIdle: func() { utilnet.CloseIdleConnectionsFor(client.Transport) },
	}, nil
}

// Close implements statusStore.
func (s *objectStore) Close() { s.closeIdle() }

// Read implements statusStore. A kind that is not installed is like an object that is not there: Write will tell.
func (s *objectStore) Read(ctx context.Context) (*vicinityv1alpha1.NodeDatasetCacheStatus, error) {
	found, err := s.caches.Get(ctx, s.node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain("read", err)
	}
	cache := &vicinityv1alpha1.NodeDatasetCache{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, cache); err != nil {
		return nil, fmt.Errorf("%s %q is not what this agent knows by that name: %w", kindOfCache, s.node, err)
	}
	return &cache.Status, nil
}

// Write implements statusStore.
func (s *objectStore) Write(ctx context.Context, status vicinityv1alpha1.NodeDatasetCacheStatus) error {
	if s.applied {
		err := s.applyStatus(ctx, status)
		if !apierrors.IsNotFound(err) {
			return err
		}
		// Deleted by somebody, or with a Node that has since been created anew.
	}
	if err := s.applyObject(ctx); err != nil {
		return err
	}
	return s.applyStatus(ctx, status)
}

// applyObject creates the object, or makes sure that the Node owns it.
func (s *objectStore) applyObject(ctx context.Context) error {
	s.applied = false
	node, err := s.nodes.Get(ctx, s.node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no Node %q to own the report: --node-name must be the name of this machine's Node: %w", s.node, err)
	}
	if err != nil {
		return fmt.Errorf("cannot read Node %q, which is to own the report: %w", s.node, err)
	}
	object, err := s.object(vicinityv1alpha1.NodeDatasetCache{ObjectMeta: metav1.ObjectMeta{
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.GetName(), UID: node.GetUID()}},
	}})
	if err != nil {
		return err
	}
	_, err = s.caches.Apply(ctx, s.node, object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the API server does not know the kind %s: apply the CRD nodedatasetcaches.vicinity.dev (it is part of "+
			"Vicinity's install.yaml and of its chart): %w", kindOfCache, err)
	}
	if err != nil {
		return s.explain("write", err)
	}
	s.applied = true
	return nil
}

func (s *objectStore) applyStatus(ctx context.Context, status vicinityv1alpha1.NodeDatasetCacheStatus) error {
	object, err := s.object(vicinityv1alpha1.NodeDatasetCache{Status: status})
	if err != nil {
		return err
	}
	// By force, since nobody else knows what lies on this node.
	_, err = s.caches.ApplyStatus(ctx, s.node, object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return s.explain("write the status of", err)
	}
	return nil
}

// object turns the node's NodeDatasetCache into what the client takes.
func (s *objectStore) object(cache vicinityv1alpha1.NodeDatasetCache) (*unstructured.Unstructured, error) {
	cache.APIVersion, cache.Kind, cache.Name = vicinityv1alpha1.GroupVersion().String(), kindOfCache, s.node
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&cache)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kindOfCache, s.node, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// explain adds to an error of the API server what an administrator can do.
func (s *objectStore) explain(verb string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("may not %s %s %q; the agent needs ClusterRole vicinity-agent and a token that is bound to node %q, "+
			"as its pod has: %w", verb, kindOfCache, s.node, s.node, err)
	case apierrors.IsConflict(err):
		return fmt.Errorf("cannot %s %s %q, which somebody else changes at the same time; see who in its managedFields: %w",
			verb, kindOfCache, s.node, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("cannot %s %s %q: the API server does not accept the agent's token: %w", verb, kindOfCache, s.node, err)
	}
	return fmt.Errorf("cannot %s %s %q: %w", verb, kindOfCache, s.node, err)
}
