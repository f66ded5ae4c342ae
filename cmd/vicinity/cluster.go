package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

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
	o.addClusterFlags(cmd)
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the namespace; default: that of the context")
}

// addClusterFlags is addFlags for commands that are not about one namespace.
func (o *connectionOptions) addClusterFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig file; default: as kubectl, $KUBECONFIG or ~/.kube/config")
	flags.StringVar(&o.context, "context", "", "the kubeconfig's context to use; default: its current one")
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

// reading is one look at a cluster, which ends after readTimeout.
type reading struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// beginReading starts to read something from the cluster. If that takes long errOut learns what for. end must be called.
func beginReading(ctx context.Context, config *rest.Config, what string, errOut io.Writer) (context.Context, *reading) {
	// client-go's own log lines are about retries; what finally goes wrong is returned.
	ctx = klog.NewContext(ctx, logr.Discard())
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout,
		fmt.Errorf("the API server at %s has not listed %s within %s", config.Host, what, readTimeout))
	r := &reading{cancel: cancel}
	r.running.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(quietFor):
			fmt.Fprintf(errOut, "reading %s from %s ...\n", what, config.Host)
		}
	})
	return ctx, r
}

// end ends whatever runs on the context, and waits for what runs in the group.
func (r *reading) end() {
	r.cancel()
	r.running.Wait()
}

func installedDefinitions(ctx context.Context, config *rest.Config) (map[string]bool, error) {
	return namesOf(ctx, config, schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
}

// namesOf returns the names of all objects of a cluster-scoped resource.
func namesOf(ctx context.Context, config *rest.Config, resource schema.GroupVersionResource) (map[string]bool, error) {
	reader, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	list, err := reader.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, cannotRead(ctx, config, resource.Resource, err)
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
