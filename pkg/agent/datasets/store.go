package datasets

import (
	"context"

	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// objectStore keeps the report in the NodeDatasetCache of the node.
type objectStore struct {
	*report.Store
}

func newObjectStore(config *rest.Config, node string) (*objectStore, error) {
	store, err := report.NewStore(config, report.Object{
		Kind:     vicinityv1alpha1.GroupVersion().WithKind("NodeDatasetCache"),
		Resource: "nodedatasetcaches", Name: node, Node: node,
	})
	if err != nil {
		return nil, err
	}
	return &objectStore{store}, nil
}

// Read implements statusStore.
func (s *objectStore) Read(ctx context.Context) (*vicinityv1alpha1.NodeDatasetCacheStatus, error) {
	cache := &vicinityv1alpha1.NodeDatasetCache{}
	found, err := s.Store.Read(ctx, cache)
	if err != nil || !found {
		return nil, err
	}
	return &cache.Status, nil
}

// Write implements statusStore.
func (s *objectStore) Write(ctx context.Context, status vicinityv1alpha1.NodeDatasetCacheStatus) error {
	return s.WriteStatus(ctx, &vicinityv1alpha1.NodeDatasetCache{Status: status})
}
