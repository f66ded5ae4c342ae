package cacheaware

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/internal/waiting"
)

// Shared is what the plugins of all profiles have in common. Pods of one profile load the gateways and warm the
// nodes of another's.
type Shared struct {
	datasets Datasets
	nodes    locality.NodeIndex
	claims   corelisters.PersistentVolumeClaimLister
	clock    clock.PassiveClock
	metrics  *Metrics
	load     *datasetLoad
	warming  *warmingNodes
	fills    Fills
}

// Fills is told how many bytes pods will write to their nodes while they fetch data.
type Fills interface {
	// Expect says that the pod will write so many bytes to the node from now on.
	Expect(node, podUID string, bytes int64, now time.Time)
	// TakeBack says that the pod will not come after all.
	TakeBack(node, podUID string)
}

// NewShared is to be called once per scheduler, before its informers start.
func NewShared(datasets Datasets, nodes locality.NodeIndex, factory informers.SharedInformerFactory,
	now clock.PassiveClock, metrics *Metrics, fills Fills,
) (*Shared, error) {
	s := &Shared{
		datasets: datasets, nodes: nodes, clock: now, metrics: metrics, fills: fills,
		claims:  factory.Core().V1().PersistentVolumeClaims().Lister(),
		load:    newDatasetLoad(),
		warming: newWarmingNodes(maxWarming),
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    s.podSeen,
		UpdateFunc: func(_, obj any) { s.podSeen(obj) },
		DeleteFunc: waiting.OnDeletedPod(func(pod *corev1.Pod) { s.load.gone(pod.UID) }),
	})
	if err != nil {
		return nil, fmt.Errorf("plugin %s: watching pods: %w", Name, err)
	}
	return s, nil
}

// podSeen counts bound pods, of every scheduler.
func (s *Shared) podSeen(obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || s.load.counts(pod.UID) {
		return
	}
	// A pod that this plugin could not read does not use datasets in a way it could count.
	if w, err := s.wishOf(pod, allSources()); err == nil && len(w.datasets) > 0 {
		s.load.bound(pod.UID, w.keys())
	}
}

func allSources() []configv1.DatasetSource {
	return []configv1.DatasetSource{configv1.SourceNodeDatasetCache, configv1.SourceFluid, configv1.SourceDatashim}
}
