package rtt

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const (
	fieldManager = "vicinity-agent"
	kindOfRTT    = "NodeRTT"
	pluralOfRTT  = "noderrts"
	// A report takes up to three requests, and there are four reports a minute at most.
	requestsPerSecond = 5
)

// objectStore keeps the node's NodeRTT. It is not safe for concurrent use.
type objectStore struct {
	node      string
	objects   dynamic.ResourceInterface
	nodes     metadata.Getter
	closeIdle func()
	// applied says that this process has made sure that the object exists and that the Node owns it.
	applied bool
}

// newObjectStore makes a store; it speaks to no server yet.
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
	// Of a Node only name, UID and labels are needed, and the rest can be large.
	heads, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), client)
	if err != nil {
		return nil, err
	}
	return &objectStore{
		node:      node,
		objects:   objects.Resource(vicinityv1alpha1.GroupVersion().WithResource(pluralOfRTT)),
		nodes:     heads.Resource(corev1.SchemeGroupVersion.WithResource("nodes")),
		closeIdle: func() { utilnet.CloseIdleConnectionsFor(client.Transport) },
	}, nil
}

// Close implements statusStore.
func (s *objectStore) Close() { s.closeIdle() }

// Zone implements statusStore.
func (s *objectStore) Zone(ctx context.Context) (string, error) {
	node, err := s.self(ctx)
	if err != nil {
		return "", err
	}
	return node.Labels[corev1.LabelTopologyZone], nil
}

// Read implements statusStore. A kind that is not installed is like an object that is not there: Write will tell.
func (s *objectStore) Read(ctx context.Context) (*vicinityv1alpha1.NodeRTTStatus, error) {
	found, err := s.objects.Get(ctx, s.node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nothing was reported, and that is all there is to say
	}
	if err != nil {
		return nil, s.explain("read", err)
	}
	object := &vicinityv1alpha1.NodeRTT{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, object); err != nil {
		return nil, fmt.Errorf("%s %q is not what this agent knows by that name: %w", kindOfRTT, s.node, err)
	}
	return &object.Status, nil
}

// Write implements statusStore.
func (s *objectStore) Write(ctx context.Context, status vicinityv1alpha1.NodeRTTStatus) error {
	if s.applied {
		err := s.applyStatus(ctx, &status)
		if !apierrors.IsNotFound(err) {
			return s.explain("write the status of", err)
		}
		// Somebody deleted it, or it went with a Node that was created anew since.
		s.applied = false
	}
	node, err := s.self(ctx)
	if err != nil {
		return err
	}
	err = s.applyObject(ctx, metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the API server does not know the kind %s: apply the CRD %s.%s (it is part of Vicinity's install.yaml and of "+
			"its chart): %w", kindOfRTT, pluralOfRTT, vicinityv1alpha1.GroupName, err)
	}
	if err != nil {
		return s.explain("write", err)
	}
	s.applied = true
	return s.explain("write the status of", s.applyStatus(ctx, &status))
}

// self reads what is needed of the node's Node.
func (s *objectStore) self(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
	node, err := s.nodes.Get(ctx, s.node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no Node %q: --node-name must be the name of this machine's Node: %w", s.node, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read Node %q: %w", s.node, err)
	}
	return node, nil
}

// applyObject creates the object, or gives it its owner. It is applied by force, as the status is: nobody else knows what
// this node measures, and entries of other sources have other keys.
func (s *objectStore) applyObject(ctx context.Context, owner metav1.OwnerReference) error {
	object, err := s.object(&vicinityv1alpha1.NodeRTT{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner}}})
	if err != nil {
		return err
	}
	_, err = s.objects.Apply(ctx, s.node, object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

func (s *objectStore) applyStatus(ctx context.Context, status *vicinityv1alpha1.NodeRTTStatus) error {
	object, err := s.object(&vicinityv1alpha1.NodeRTT{Status: *status})
	if err != nil {
		return err
	}
	_, err = s.objects.ApplyStatus(ctx, s.node, object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

func (s *objectStore) object(rtt *vicinityv1alpha1.NodeRTT) (*unstructured.Unstructured, error) {
	rtt.APIVersion, rtt.Kind, rtt.Name = vicinityv1alpha1.GroupVersion().String(), kindOfRTT, s.node
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(rtt)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kindOfRTT, s.node, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// explain adds to an error of the API server what an administrator can do. It returns nil for nil.
func (s *objectStore) explain(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("may not %s %s %q; the agent needs ClusterRole vicinity-agent and a token that is bound to node %q, "+
			"as its pod has: %w", verb, kindOfRTT, s.node, s.node, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("cannot %s %s %q: the API server does not accept the agent's token: %w", verb, kindOfRTT, s.node, err)
	}
	return fmt.Errorf("cannot %s %s %q: %w", verb, kindOfRTT, s.node, err)
}
