package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

const (
	// readTimeout bounds how long nodes and datasets may take to be listed.
	readTimeout = 30 * time.Second
	// malformedMetric is the state's counter of what it could not read, with the label resource.
	malformedMetric = "vicinity_state_malformed_total"
	// quietFor is how long a command may take before it says what it is waiting for.
	quietFor = 2 * time.Second
)

// connectionOptions say which cluster is meant, with kubectl's flags.
type connectionOptions struct {
	kubeconfig, context, namespace string
}

func (o *connectionOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig file; default: as kubectl, $KUBECONFIG or ~/.kube/config")
	flags.StringVar(&o.context, "context", "", "the kubeconfig's context to use; default: its current one")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the namespace; default: that of the context")
	if err := cmd.MarkFlagFilename("kubeconfig"); err != nil {
		panic(err) // only for a flag that does not exist
	}
}

// load finds the cluster and the namespace as kubectl does.
func (o *connectionOptions) load() (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.context}
	overrides.Context.Namespace = o.namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if config, err = loader.ClientConfig(); clientcmd.IsEmptyConfig(err) {
		return nil, "", fmt.Errorf("no cluster to ask: want a kubeconfig in --kubeconfig, $KUBECONFIG or ~/.kube/config "+
			"(`vicinity up` writes one to %s)", defaultKubeconfig)
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if namespace, _, err = loader.Namespace(); err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig's namespace: %w", err)
	}
	config.UserAgent = "vicinity/" + version.String()
	config.QPS = -1 // a dozen requests in all
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return config, namespace, nil
}

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
	// client-go's own log lines are about retries; what finally goes wrong is returned.
	ctx = klog.NewContext(ctx, logr.Discard())
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout,
		fmt.Errorf("the API server at %s has not listed nodes and datasets within %s", config.Host, readTimeout))
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(quietFor):
			fmt.Fprintf(errOut, "reading nodes and datasets from %s ...\n", config.Host)
		}
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	// Runs before the deferred calls above wait, and after they cancel: the informers end with ctx.
	defer func() { cancel(); factory.Shutdown() }()
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
	running.Go(func() { known.Run(ctx) })
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

func installedDefinitions(ctx context.Context, config *rest.Config) (map[string]bool, error) {
	reader, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	const group, resource = "apiextensions.k8s.io", "customresourcedefinitions"
	list, err := reader.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, cannotRead(ctx, config, resource, err)
	}
	names := map[string]bool{}
	for i := range list.Items {
		names[list.Items[i].Name] = true
	}
	return names, nil
}

func cannotRead(ctx context.Context, config *rest.Config, resource string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("want the right to get, list and watch %s in all namespaces: %w", resource, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s does not know you: %w", config.Host, err)
	default:
		return fmt.Errorf("listing %s at %s: %w", resource, config.Host, err)
	}
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

// malformedParts turns the state's counter into lines for people.
func malformedParts(metrics prometheus.Gatherer) ([]string, error) {
	families, err := metrics.Gather()
	if err != nil {
		return nil, fmt.Errorf("counting what could not be read: %w", err)
	}
	var lines []string
	for _, family := range families {
		if family.GetName() != malformedMetric {
			continue
		}
		for _, metric := range family.GetMetric() {
			resource := metric.GetLabel()[0].GetValue()
			switch count := metric.GetCounter().GetValue(); count {
			case 0:
			case 1:
				lines = append(lines, resource+": 1 faulty object or entry was ignored")
			default:
				lines = append(lines, fmt.Sprintf("%s: %.0f faulty objects or entries were ignored", resource, count))
			}
		}
	}
	return lines, nil
}
