package rtt

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

const kindOfRTT = "NodeRTT"

// objectStore keeps the node's NodeRTT. Entries of other sources in it have other keys and other owners, and stay.
type objectStore struct {
	node      string
	object    *report.Store
	nodes     metadata.Getter
	closeIdle func()
}

// newObjectStore makes a store; it speaks to no server yet.
func newObjectStore(config *rest.Config, node string) (*objectStore, error) {
	object, err := report.NewStore(config, report.Object{
		Kind: vicinityv1alpha1.GroupVersion().WithKind(kindOfRTT), Resource: "noderrts", Name: node, Node: node,
	})
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// Of a Node only the labels are needed, and the rest can be large.
	heads, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), client)
	if err != nil {
		return nil, err
	}
	return &objectStore{
		node: node, object: object, nodes: heads.Resource(corev1.SchemeGroupVersion.WithResource("nodes")),
		closeIdle: func() { utilnet.CloseIdleConnectionsFor(client.Transport) },
	}, nil
}

// Close implements statusStore.
func (s *objectStore) Close() {
	s.object.Close()
	s.closeIdle()
}

// Zone implements statusStore.
func (s *objectStore) Zone(ctx context.Context) (string, error) {
	node, err := s.nodes.Get(ctx, s.node, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot read the zone of Node %q, which must be this machine's: %w", s.node, err)
	}
	return node.Labels[corev1.LabelTopologyZone], nil
}

// Read implements statusStore.
func (s *objectStore) Read(ctx context.Context) (*vicinityv1alpha1.NodeRTTStatus, error) {
	found := &vicinityv1alpha1.NodeRTT{}
	if ok, err := s.object.Read(ctx, found); !ok {
		return nil, err
	}
	return &found.Status, nil
}

// Write implements statusStore.
func (s *objectStore) Write(ctx context.Context, status vicinityv1alpha1.NodeRTTStatus) error {
	return s.object.WriteStatus(ctx, &vicinityv1alpha1.NodeRTT{Status: status})
}
