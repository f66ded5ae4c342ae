package snapshot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/manifests"
)

// Read lists the nodes and pods of the current context of a kubeconfig file.
func Read(ctx context.Context, kubeconfig string) (*manifests.Set, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster of %s: %w", kubeconfig, err)
	}
	return List(ctx, client, kubeconfig)
}

// List reads through a client. origin stands for a file's name in faults.
func List(ctx context.Context, client kubernetes.Interface, origin string) (*manifests.Set, error) {
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Nodes().List(ctx, o)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		if node, ok := o.(*corev1.Node); ok {
			nodes = append(nodes, node)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the nodes of the cluster of %s: %w", origin, err)
	}
	list = pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, o)
	})
	err = list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		if pod, ok := o.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of the cluster of %s: %w", origin, err)
	}
	return manifests.FromCluster(origin, nodes, pods), nil
}
