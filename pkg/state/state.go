package state

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// State is the scheduler's view of custom resources.
type State struct {
	optional *optionalResources
	datashim *datashim

	mu        sync.Mutex
	listeners []func(locality.DatasetKey)
}

// New returns a State that reads through config once [State.Run] is called. Its metrics are registered with
// reg.
func New(config *rest.Config, reg registerer) (*State, error) {
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for custom resources: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for custom resource definitions: %w", err)
	}
	return newState(dynamicClient, metadataClient, reg)
}

func newState(d dynamic.Interface, m metadata.Interface, reg registerer) (*State, error) {
	s := &State{}
	metrics, err := newMetrics(reg)
	if err != nil {
		return nil, err
	}
	s.datashim = newDatashim(metrics, s.datasetChanged)
	s.optional = newOptionalResources(d, m, s.datashim.resources())
	return s, nil
}

// Run watches until ctx ends and returns when all its goroutines have.
func (s *State) Run(ctx context.Context) { s.optional.run(ctx) }

// WaitForSync returns nil when every resource whose definition existed at the start has been listed, or the
// context's error.
func (s *State) WaitForSync(ctx context.Context) error { return s.optional.waitForSync(ctx) }

// Placement returns where a dataset can be read now. It is empty when nothing is known or usable.
func (s *State) Placement(dataset locality.DatasetKey) locality.Placement {
	return s.datashim.placement(dataset)
}

// Known reports whether an object describes the dataset, whether or not it has a placement.
func (s *State) Known(dataset locality.DatasetKey) bool { return s.datashim.known(dataset) }

// OnDatasetChange calls f for every dataset whose placement may have changed from now on. f must return quickly
// and must not call back into State.
func (s *State) OnDatasetChange(f func(locality.DatasetKey)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

func (s *State) datasetChanged(dataset locality.DatasetKey) {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	for _, f := range listeners {
		f(dataset)
	}
}
