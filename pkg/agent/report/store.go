package report

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
)

const (
	// FieldManager owns the fields that the agent writes.
	FieldManager = "vicinity-agent"

	// A report takes a handful of requests, and there are four reports a minute at most.
	requestsPerSecond = 5
)

// Object says which object a Store keeps.
type Object struct {
	Kind     schema.GroupVersionKind
	Resource string // the plural, in lower case
	// Namespace is empty for a kind without namespaces.
	Namespace string
	Name      string
	// Node is the name of the Node that owns the object.
	Node string
}

// Store keeps an object of the node. It is not safe for concurrent use.
type Store struct {
	object    Object
	objects   dynamic.ResourceInterface
	nodes     metadata.Getter
	closeIdle func()

	// applied says that the object was created, or given its owner, by this process.
	applied bool
}

// NewStore makes a store; it speaks to no server yet.
func NewStore(config *rest.Config, object Object) (*Store, error) {
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
	s := &Store{
		object:    object,
		nodes:     headers.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}),
		closeIdle: func() { utilnet.CloseIdleConnectionsFor(client.Transport) },
	}
	resource := objects.Resource(object.Kind.GroupVersion().WithResource(object.Resource))
	s.objects = resource
	if object.Namespace != "" {
		s.objects = resource.Namespace(object.Namespace)
	}
	return s, nil
}

// Close releases the connection.
func (s *Store) Close() { s.closeIdle() }

// Read fills in the object. It returns false if there is none, which includes that its kind is not installed: Write will
// tell.
func (s *Store) Read(ctx context.Context, into any) (bool, error) {
	found, err := s.objects.Get(ctx, s.object.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, s.explain("read", err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, into); err != nil {
		return false, fmt.Errorf("%s %q is not what this agent knows by that name: %w", s.object.Kind.Kind, s.object.Name, err)
	}
	return true, nil
}

// WriteStatus replaces the status. Object is the whole object, a pointer to a struct of the API: its spec is written
// together with the owner when the object is created, or first met.
func (s *Store) WriteStatus(ctx context.Context, object any) error {
	if s.applied {
		err := s.ApplyStatus(ctx, object)
		if !apierrors.IsNotFound(err) {
			return err
		}
		// Deleted by somebody, or with a Node that has since been created anew.
	}
	if err := s.WriteSpec(ctx, object); err != nil {
		return err
	}
	return s.ApplyStatus(ctx, object)
}

// WriteSpec creates the object, or writes its spec and makes sure that the Node owns it. The status is left alone.
func (s *Store) WriteSpec(ctx context.Context, object any) error {
	s.applied = false
	node, err := s.nodes.Get(ctx, s.object.Node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no Node %q to own the report: --node-name must be the name of this machine's Node: %w",
			s.object.Node, err)
	}
	if err != nil {
		return fmt.Errorf("cannot read Node %q, which is to own the report: %w", s.object.Node, err)
	}
	content, err := s.encode(object, "spec")
	if err != nil {
		return err
	}
	content.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.GetName(), UID: node.GetUID()}})
	_, err = s.objects.Apply(ctx, s.object.Name, content, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if apierrors.IsNotFound(err) {
		if s.object.Namespace != "" {
			return fmt.Errorf("the API server does not know the kind %s, or there is no namespace %q: apply the CRD %s.%s (it is "+
				"part of Vicinity's install.yaml and of its chart): %w",
				s.object.Kind.Kind, s.object.Namespace, s.object.Resource, s.object.Kind.Group, err)
		}
		return fmt.Errorf("the API server does not know the kind %s: apply the CRD %s.%s (it is part of "+
			"Vicinity's install.yaml and of its chart): %w", s.object.Kind.Kind, s.object.Resource, s.object.Kind.Group, err)
	}
	if err != nil {
		return s.explain("write", err)
	}
	s.applied = true
	return nil
}

// ApplyStatus writes the status of an object that exists.
func (s *Store) ApplyStatus(ctx context.Context, object any) error {
	content, err := s.encode(object, "status")
	if err != nil {
		return err
	}
	_, err = s.objects.ApplyStatus(ctx, s.object.Name, content, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return s.explain("write the status of", err)
	}
	return nil
}

// encode takes one field of an object, so that what is applied owns nothing else.
func (s *Store) encode(object any, field string) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", s.object.Kind.Kind, s.object.Name, err)
	}
	result := &unstructured.Unstructured{Object: map[string]any{}}
	if value, ok := content[field]; ok {
		result.Object[field] = value
	}
	result.SetGroupVersionKind(s.object.Kind)
	result.SetNamespace(s.object.Namespace)
	result.SetName(s.object.Name)
	return result, nil
}

// explain adds to an error of the API server what an administrator can do.
func (s *Store) explain(verb string, err error) error {
	kind, name := s.object.Kind.Kind, s.object.Name
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("may not %s %s %q; the agent needs ClusterRole vicinity-agent and a token that is bound to node %q, "+
			"as its pod has: %w", verb, kind, name, s.object.Node, err)
	case apierrors.IsConflict(err):
		return fmt.Errorf("cannot %s %s %q, which somebody else changes at the same time; see who in its managedFields: %w",
			verb, kind, name, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("cannot %s %s %q: the API server does not accept the agent's token: %w", verb, kind, name, err)
	}
	return fmt.Errorf("cannot %s %s %q: %w", verb, kind, name, err)
}
