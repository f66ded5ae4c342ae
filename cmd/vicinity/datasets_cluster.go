package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

// datasetReader is what of the scheduler's state is asked.
type datasetReader interface {
	Keys(from []configv1.DatasetSource) []locality.DatasetKey
	Known(key locality.DatasetKey, from []configv1.DatasetSource) bool
	Datasets(key locality.DatasetKey, from []configv1.DatasetSource) []locality.Dataset
}

var _ datasetReader = (*state.State)(nil)

// clusterView is what the cluster's sources and nodes said at one moment.
type clusterView struct {
	known   datasetReader
	sources []configv1.DatasetSource
	index   locality.NodeIndex
	nodes   []*corev1.Node
	// notInstalled names the sources that have nothing in this cluster to be read from.
	notInstalled []string
	// malformed says what could not be read, a line per resource.
	malformed []string
}

func (v *clusterView) keys() []locality.DatasetKey { return v.known.Keys(v.sources) }

// dataset returns what the scheduler counts of the dataset, and after that what it leaves out as stale.
func (v *clusterView) dataset(key locality.DatasetKey, now time.Time, staleAfter time.Duration) locality.Dataset {
	dataset, stale := locality.MergeFresh(now, staleAfter, v.known.Datasets(key, v.sources)...)
	dataset.Replicas = append(dataset.Replicas, stale...)
	return dataset
}

// exists reports whether a source names a place of the dataset.
func (v *clusterView) exists(key locality.DatasetKey) bool {
	return slices.ContainsFunc(v.known.Datasets(key, v.sources), func(d locality.Dataset) bool { return len(d.Replicas) > 0 })
}

// readCluster reads as the scheduler does, with the same code, and returns when everything has been listed. If that
// takes long errOut learns what for.
func readCluster(ctx context.Context, config *rest.Config, sources []configv1.DatasetSource, errOut io.Writer) (*clusterView, error) {
	ctx, reading := beginReading(ctx, config, "nodes and datasets", errOut)
	defer reading.end()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	// Runs before the deferred calls above wait, and after they cancel: the informers end with ctx.
	defer func() { reading.cancel(); factory.Shutdown() }()
	index, err := state.NewNodes(factory.Core().V1().Nodes().Informer())
	if err != nil {
		return nil, err
	}
	metrics := prometheus.NewRegistry()
	known, err := state.New(config, index, metrics, sources...)
	if err != nil {
		return nil, err
	}
	view := &clusterView{known: known, sources: sources, index: index}
	if view.notInstalled, err = tryReading(ctx, config, client, known, sources); err != nil {
		return nil, err
	}
	reading.running.Go(func() { known.Run(ctx) })
	factory.StartWithContext(ctx)
	if err := errors.Join(known.WaitForSync(ctx), factory.WaitForCacheSyncWithContext(ctx).AsError()); err != nil {
		return nil, context.Cause(ctx)
	}
	if view.nodes, err = factory.Core().V1().Nodes().Lister().List(labels.Everything()); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	view.malformed, err = malformedParts(metrics)
	return view, err
}

// tryReading asks for a little of everything that informers will read, because informers retry for ever where a
// command should say what is wrong. It returns the sources of which nothing is installed.
func tryReading(ctx context.Context, config *rest.Config, client kubernetes.Interface, known *state.State,
	sources []configv1.DatasetSource,
) (notInstalled []string, err error) {
	little := metav1.ListOptions{Limit: 1}
	if _, err := client.CoreV1().Nodes().List(ctx, little); err != nil {
		return nil, cannotRead(ctx, config, "nodes", err)
	}
	definitions, err := installedDefinitions(ctx, config)
	if err != nil {
		return nil, err
	}
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	for _, source := range sources {
		resources := known.Resources(source)
		there := slices.DeleteFunc(slices.Clone(resources), func(r schema.GroupVersionResource) bool {
			return !definitions[r.GroupResource().String()]
		})
		if len(there) == 0 {
			notInstalled = append(notInstalled, fmt.Sprintf("%s (%s)", source, groupsOf(resources)))
		}
		for _, r := range there {
			if _, err := reader.Resource(r).List(ctx, little); err != nil {
				return nil, fmt.Errorf("source %s: %w; --sources can leave it out", source,
					cannotRead(ctx, config, r.GroupResource().String(), err))
			}
		}
	}
	return notInstalled, nil
}

// groupsOf returns the API groups of resources, each once.
func groupsOf(resources []schema.GroupVersionResource) string {
	var groups []string
	for _, r := range resources {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	return strings.Join(groups, ", ")
}
