package localstack

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// fieldOwner is the field manager under which everything is applied.
	fieldOwner = "vicinity-local"
	// pollInterval is short because the API server is on the same machine and nothing else uses it.
	pollInterval = 25 * time.Millisecond
)

// newClient returns an uncached client: what it reads is what the API server has at that moment.
func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("building the client's scheme: %w", err)
	}
	config.WarningHandlerWithContext = rest.NoWarnings{}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to the local control plane: %w", err)
	}
	return kube, nil
}

// Apply writes obj by server-side apply, and its status, if it has one, through the status subresource as well.
func (s *Stack) Apply(ctx context.Context, obj *unstructured.Unstructured) error {
	// The status stays in the first request because a node is created with its status: otherwise kwok may see the node
	// first and give it its own defaults.
	if err := s.Kube.Apply(ctx, applicable(obj), client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
		return fmt.Errorf("applying %s: %w", describe(obj), err)
	}
	if _, ok := obj.Object["status"]; !ok {
		return nil
	}
	status := &unstructured.Unstructured{Object: map[string]any{"status": obj.Object["status"]}}
	status.SetAPIVersion(obj.GetAPIVersion())
	status.SetKind(obj.GetKind())
	status.SetName(obj.GetName())
	status.SetNamespace(obj.GetNamespace())
	if err := s.Kube.Status().Apply(ctx, applicable(status), client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
		return fmt.Errorf("applying the status of %s: %w", describe(obj), err)
	}
	return nil
}

// applicable copies obj because the client writes the server's answer into what it is given.
func applicable(obj *unstructured.Unstructured) runtime.ApplyConfiguration {
	return client.ApplyConfigurationFromUnstructured(obj.DeepCopy())
}

// ApplyNodes creates the nodes and waits until pods can be placed on them.
func (s *Stack) ApplyNodes(ctx context.Context, nodes []Node) error {
	names := make([]string, 0, len(nodes))
	for i := range nodes {
		obj, err := nodes[i].Unstructured()
		if err != nil {
			return err
		}
		if err := s.Apply(ctx, obj); err != nil {
			return err
		}
		names = append(names, nodes[i].Name)
	}
	return s.WaitNodes(ctx, names)
}

// WaitNodes waits until the named nodes are Ready and the taints of a new node are gone.
func (s *Stack) WaitNodes(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var waitingFor string
	err := wait.PollUntilContextTimeout(ctx, pollInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		nodes := &corev1.NodeList{}
		if err := s.Kube.List(ctx, nodes); err != nil {
			return false, err
		}
		ready := make(map[string]bool, len(nodes.Items))
		for i := range nodes.Items {
			ready[nodes.Items[i].Name] = usable(&nodes.Items[i])
		}
		for _, name := range names {
			if !ready[name] {
				waitingFor = name
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for node %s to become Ready through kwok: %w", waitingFor, err)
	}
	return nil
}

// usable says whether a node is Ready and kube-controller-manager has noticed.
func usable(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func describe(obj client.Object) string {
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	if ns := obj.GetNamespace(); ns != "" {
		return fmt.Sprintf("%s %s/%s", kind, ns, obj.GetName())
	}
	return fmt.Sprintf("%s %s", kind, obj.GetName())
}
