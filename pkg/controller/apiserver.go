package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

const (
	// apiServerTimeout is how long the start waits for the API server, as long as kube-controller-manager does.
	apiServerTimeout = 10 * time.Second
	apiServerRetry   = time.Second
	// requestTimeout is less than the whole, so that one lost answer is not the end.
	requestTimeout = 4 * time.Second
)

// LoadRESTConfig reads a kubeconfig file. An empty path stands for the ServiceAccount of the pod that the process
// runs in. The current context of the user's own kubeconfig is never taken: a controller that starts working on
// whatever cluster somebody looked at last is a bad surprise.
func LoadRESTConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("not running in a pod of a cluster: set --kubeconfig to a kubeconfig file")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot use the pod's ServiceAccount: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: cannot use %s: %w", kubeconfig, err)
	}
	return config, nil
}

// awaitAPIServer returns nil once the API server answers, and an error if there is no answer within the timeout or
// before ctx ends. Without this a wrong address would show as a controller that runs and does nothing.
func awaitAPIServer(ctx context.Context, config *rest.Config, timeout time.Duration) error {
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	config.QPS = -1 // the client's own limiter would answer in the server's place when the time is nearly over
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a client for the API server at %s: %w", config.Host, err)
	}

	var last error
	err = wait.PollUntilContextTimeout(ctx, apiServerRetry, timeout, true, func(ctx context.Context) (bool, error) {
		info, err := client.ServerVersionWithContext(ctx)
		switch {
		case err == nil:
			klog.FromContext(ctx).Info("Found the API server", "host", config.Host, "kubernetes", info.GitVersion)
			return true, nil
		case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
			return false, fmt.Errorf("the API server at %s does not accept the credentials: %w", config.Host, err)
		case ctx.Err() == nil:
			// The error of a request that was cut off says less than the one before it.
			last = err
		}
		return false, nil
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("the API server at %s does not answer within %s, check that it runs and that the kubeconfig is right: %w",
			config.Host, timeout, cmp.Or(last, err))
	}
	return err
}
