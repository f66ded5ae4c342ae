package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// source is one origin of knowledge of datasets. Its methods may be called from any goroutine.
type source interface {
	// dataset returns what the source says; the zero Dataset when it says nothing that can be used.
	dataset(key locality.DatasetKey) locality.Dataset
	// known reports whether the source has heard of the dataset, whether or not it can be read anywhere.
	known(key locality.DatasetKey) bool
	// keys returns every dataset the source has heard of.
	keys() []locality.DatasetKey
	// holdsData reports whether the source says that the node holds or serves any dataset.
	holdsData(node locality.Node) bool
	// resources are the custom resources that the source reads.
	resources() []optionalResource
}

// State is the scheduler's view of custom resources.
type State struct {
	optional *optionalResources
	sources  map[configv1.DatasetSource]source
	disks    *disks
	rtts     *rtts

	mu        sync.Mutex
	listeners []func(locality.DatasetKey)
}

// New returns a State that reads through config once [State.Run] is called, and that finds the nodes of sources
// that label nodes in nodes. Its metrics are registered with reg. It reads the sources of datasets
// named by only, or all of them, disks and round-trip times when none is named: who asks for one source needs no right to read the others.
func New(config *rest.Config, nodes *Nodes, reg registerer, only ...configv1.DatasetSource) (*State, error) {
	dynamicClient, metadataClient, err := clientsFor(config)
	if err != nil {
		return nil, err
	}
	return NewForClients(dynamicClient, metadataClient, nodes, reg, only...)
}

// NewDisks is New for disks alone: who asks for them needs no right to read datasets.
func NewDisks(config *rest.Config, reg registerer) (*State, error) {
	dynamicClient, metadataClient, err := clientsFor(config)
	if err != nil {
		return nil, err
	}
	malformed := newMalformed()
	s := &State{disks: newDisks(malformed)}
	if err := registerMetrics(reg, malformed, nil); err != nil {
		return nil, err
	}
	s.optional = newOptionalResources(dynamicClient, metadataClient, s.disks.resources())
	return s, nil
}

func clientsFor(config *rest.Config) (dynamic.Interface, metadata.Interface, error) {
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("client for custom resources: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("client for custom resource definitions: %w", err)
	}
	return dynamicClient, metadataClient, nil
}

// NewForClients is New with clients of the caller's making.
func NewForClients(d dynamic.Interface, m metadata.Interface, nodes *Nodes, reg registerer, only ...configv1.DatasetSource,
) (*State, error) {
	s := &State{}
	malformed := newMalformed()
	s.sources = map[configv1.DatasetSource]source{
		configv1.SourceDatashim:         newDatashim(malformed, s.datasetChanged),
		configv1.SourceFluid:            newFluid(nodes, malformed, s.datasetChanged),
		configv1.SourceNodeDatasetCache: newNodeCaches(malformed, s.datasetChanged),
	}
	if len(only) > 0 {
		maps.DeleteFunc(s.sources, func(name configv1.DatasetSource, _ source) bool { return !slices.Contains(only, name) })
	}
	if err := registerMetrics(reg, malformed, s.sources); err != nil {
		return nil, err
	}
	s.disks, s.rtts = newDisks(malformed), newRTTs(malformed)
	var resources []optionalResource
	if len(only) == 0 {
		resources = append(s.disks.resources(), s.rtts.resources()...)
	}
	for _, src := range s.sources {
		resources = append(resources, src.resources()...)
	}
	s.optional = newOptionalResources(d, m, resources)
	return s, nil
}

// Run watches until ctx ends and returns when all its goroutines have.
func (s *State) Run(ctx context.Context) {
	var refining sync.WaitGroup
	if s.rtts != nil { // NewDisks reads no round-trip times
		refining.Go(func() { s.rtts.refine(ctx) })
	}
	defer refining.Wait()
	s.optional.run(ctx)
}

// WaitForSync returns nil when every resource whose definition existed at the start has been listed, or the
// context's error.
func (s *State) WaitForSync(ctx context.Context) error { return s.optional.waitForSync(ctx) }

// Datasets returns what the given sources say of a dataset now: those that say something, in their order.
func (s *State) Datasets(key locality.DatasetKey, from []configv1.DatasetSource) []locality.Dataset {
	said := make([]locality.Dataset, 0, len(from))
	for _, name := range from {
		if src, ok := s.sources[name]; ok {
			if d := src.dataset(key); d.NodeCached || d.SizeBytes > 0 || len(d.Replicas) > 0 {
				said = append(said, d)
			}
		}
	}
	return said
}

// Keys returns every dataset that one of the sources has heard of, whether or not it can be read anywhere, in order.
// A dataset of which there are only Fluid's labels on nodes is not among them: they do not tell where its namespace ends
// and its name begins.
func (s *State) Keys(from []configv1.DatasetSource) []locality.DatasetKey {
	var keys []locality.DatasetKey
	for _, name := range from {
		if src, ok := s.sources[name]; ok {
			keys = append(keys, src.keys()...)
		}
	}
	slices.SortFunc(keys, locality.DatasetKey.Compare)
	return slices.Compact(keys)
}

// Resources returns the custom resources that the source reads where they are installed, besides labels of nodes.
func (s *State) Resources(source configv1.DatasetSource) []schema.GroupVersionResource {
	src, ok := s.sources[source]
	if !ok {
		return nil
	}
	var resources []schema.GroupVersionResource
	for _, r := range src.resources() {
		resources = append(resources, r.resource)
	}
	return resources
}

// Known reports whether one of the sources has heard of the dataset, whether or not it can be read anywhere.
func (s *State) Known(key locality.DatasetKey, from []configv1.DatasetSource) bool {
	return slices.ContainsFunc(from, func(name configv1.DatasetSource) bool {
		src, ok := s.sources[name]
		return ok && src.known(key)
	})
}

// HoldsData reports whether one of the sources says that the node holds or serves any dataset.
func (s *State) HoldsData(node locality.Node, from []configv1.DatasetSource) bool {
	return slices.ContainsFunc(from, func(name configv1.DatasetSource) bool {
		src, ok := s.sources[name]
		return ok && src.holdsData(node)
	})
}

// OnDatasetChange calls f for every dataset of which something may have changed from now on. f must return quickly
// and must not call back into State. Labels that Fluid puts on nodes are not reported: they are node events.
func (s *State) OnDatasetChange(f func(locality.DatasetKey)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

func (s *State) datasetChanged(key locality.DatasetKey) {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	for _, f := range listeners {
		f(key)
	}
}
