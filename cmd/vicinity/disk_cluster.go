package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
)

// diskReader is what of the scheduler's state is asked.
type diskReader interface {
	Disks(node string) *blockio.Node
	DiskNodes() []string
}

var _ diskReader = (*state.State)(nil)

// diskCluster is what the cluster's objects said of disks, and of the pods that use them, at one moment.
type diskCluster struct {
	disks    diskReader
	nodes    map[string]bool          // those that exist, nil when they may not be read
	pods     map[string][]*corev1.Pod // by node
	models   diskModels
	accounts *diskio.Accounts
	// notInstalled names the kinds that this cluster has not.
	notInstalled []string
	// warnings say what could not be read, a line each.
	warnings []string
}

func (c *diskCluster) lacks() string {
	if len(c.notInstalled) == 0 {
		return ""
	}
	return "; not installed in this cluster: " + strings.Join(c.notInstalled, ", ")
}

// readDescriptions reads the nodes' disks as the scheduler does, with the same code, and returns when everything has
// been listed. If that takes long errOut learns what for.
func readDescriptions(ctx context.Context, config *rest.Config, errOut io.Writer) (*diskCluster, error) {
	ctx, reading := beginReading(ctx, config, "disks", errOut)
	defer reading.end()
	metrics := prometheus.NewRegistry()
	known, err := state.NewDisks(config, metrics)
	if err != nil {
		return nil, err
	}
	cluster := &diskCluster{disks: known}
	if cluster.notInstalled, err = tryReadingDisks(ctx, config, known); err != nil {
		return nil, err
	}
	reading.running.Go(func() { known.Run(ctx) })
	if err := known.WaitForSync(ctx); err != nil {
		return nil, context.Cause(ctx)
	}
	cluster.warnings, err = malformedParts(metrics)
	return cluster, err
}

// tryReadingDisks is tryReading for disks.
func tryReadingDisks(ctx context.Context, config *rest.Config, known *state.State) (notInstalled []string, err error) {
	definitions, err := installedDefinitions(ctx, config)
	if err != nil {
		return nil, err
	}
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	for _, r := range known.DiskResources() {
		name := r.GroupResource().String()
		if !definitions[name] {
			notInstalled = append(notInstalled, name)
			continue
		}
		if _, err := reader.Resource(r).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			return nil, cannotRead(ctx, config, name, err)
		}
	}
	return notInstalled, nil
}

// readDisks reads what the disks of nodes, or of all when none is named, are asked for.
func readDisks(ctx context.Context, config *rest.Config, o *diskOptions, nodes []string, errOut io.Writer) (*diskCluster, error) {
	cluster, err := readDescriptions(ctx, config, errOut)
	if err != nil {
		return nil, err
	}
	ctx, reading := beginReading(ctx, config, "pods", errOut)
	defer reading.end()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	if cluster.nodes, err = existingNodes(ctx, config); err != nil {
		return nil, err
	}
	if cluster.pods, err = podsByNode(ctx, client, nodes); err != nil {
		return nil, cannotRead(ctx, config, "pods", err)
	}
	volumes := newVolumes()
	if usesVolumes(cluster.pods) {
		if err := volumes.read(ctx, config, client); err != nil {
			return nil, err
		}
	}
	var warnings []string
	if cluster.models, warnings, err = readModels(ctx, client, o); err != nil {
		return nil, err
	}
	cluster.warnings = append(cluster.warnings, warnings...)
	cluster.accounts = diskio.NewAccounts(&o.args, cluster.models,
		corelisters.NewPersistentVolumeClaimLister(volumes.claims), corelisters.NewPersistentVolumeLister(volumes.volumes))
	return cluster, nil
}

// existingNodes returns the names of the nodes, nil for those who may not read nodes: no figure depends on them.
func existingNodes(ctx context.Context, config *rest.Config) (map[string]bool, error) {
	names, err := namesOf(ctx, config, corev1.SchemeGroupVersion.WithResource("nodes"))
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	return names, err
}

// podsByNode returns the pods that are bound and not over: those that the scheduler counts. Of each it keeps what is
// needed.
func podsByNode(ctx context.Context, client kubernetes.Interface, nodes []string) (map[string][]*corev1.Pod, error) {
	selector := []fields.Selector{
		fields.OneTermNotEqualSelector("spec.nodeName", ""),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	}
	if len(nodes) == 1 {
		selector[0] = fields.OneTermEqualSelector("spec.nodeName", nodes[0])
	}
	list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, o)
	})
	found := map[string][]*corev1.Pod{}
	options := metav1.ListOptions{FieldSelector: fields.AndSelectors(selector...).String()}
	err := list.EachListItem(ctx, options, func(object runtime.Object) error {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("want a pod in a list of pods, found %T", object)
		}
		node := pod.Spec.NodeName
		found[node] = append(found[node], &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Annotations: pod.Annotations},
			Spec:       corev1.PodSpec{NodeName: node, Volumes: pod.Spec.Volumes},
		})
		return nil
	})
	return found, err
}

// usesVolumes reports whether a pod asks for the bandwidth of a volume by its name.
func usesVolumes(pods map[string][]*corev1.Pod) bool {
	for _, onNode := range pods {
		for _, pod := range onNode {
			demands, _, err := vicinityv1alpha1.BlockIOOf(pod.Annotations)
			if err == nil && slices.ContainsFunc(demands, func(d vicinityv1alpha1.BlockIODemand) bool { return d.Volume != "" }) {
				return true
			}
		}
	}
	return false
}

// volumes tell which disk is behind a claim.
type volumes struct{ claims, volumes cache.Indexer }

func newVolumes() volumes {
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return volumes{
		claims:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace),
		volumes: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
	}
}

func (v volumes) read(ctx context.Context, config *rest.Config, client kubernetes.Interface) error {
	claims, err := client.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return cannotRead(ctx, config, "persistentvolumeclaims", err)
	}
	bound, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return cannotRead(ctx, config, "persistentvolumes", err)
	}
	for i := range claims.Items {
		if err := v.claims.Add(&claims.Items[i]); err != nil {
			return fmt.Errorf("indexing volume claims: %w", err)
		}
	}
	for i := range bound.Items {
		if err := v.volumes.Add(&bound.Items[i]); err != nil {
			return fmt.Errorf("indexing volumes: %w", err)
		}
	}
	return nil
}
