package edgedelay

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/internal/waiting"
)

// podsByWorkload names the index of pods by the workloads that they belong to, as namespace/name.
const podsByWorkload = "vicinity.dev/workload"

// Shared is what the plugins of all profiles have in common.
type Shared struct {
	store   *delay.Store
	pods    corelisters.PodLister
	indexer cache.Indexer
	nodes   corelisters.NodeLister
	clock   clock.PassiveClock
	metrics *Metrics

	mu      sync.Mutex
	assumed map[types.UID]placement // pods on their way to a node
}

// placement is a pod and its node, or the one that it is on its way to.
type placement struct {
	pod  *corev1.Pod
	node string
}

// NewShared is to be called once per scheduler, before its informers start. It keeps the store informed of the nodes of
// the cluster.
func NewShared(store *delay.Store, factory informers.SharedInformerFactory, now clock.PassiveClock, metrics *Metrics) (*Shared, error) {
	core := factory.Core().V1()
	s := &Shared{
		store: store, pods: core.Pods().Lister(), indexer: core.Pods().Informer().GetIndexer(), nodes: core.Nodes().Lister(),
		clock: now, metrics: metrics, assumed: map[types.UID]placement{},
	}
	if err := core.Pods().Informer().AddIndexers(cache.Indexers{podsByWorkload: workloadKeys}); err != nil {
		return nil, fmt.Errorf("plugin %s: indexing pods by workload: %w", Name, err)
	}
	_, err := core.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				s.forget(pod.UID)
			}
		},
		DeleteFunc: waiting.OnDeletedPod(func(pod *corev1.Pod) { s.forget(pod.UID) }),
	})
	if err != nil {
		return nil, fmt.Errorf("plugin %s: watching pods: %w", Name, err)
	}
	if err := s.watchNodes(core.Nodes().Informer()); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Shared) watchNodes(informer cache.SharedIndexInformer) error {
	set := func(obj any) {
		if node, ok := obj.(*corev1.Node); ok {
			s.store.SetNode(node.Name, node.Labels[corev1.LabelTopologyZone])
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: set,
		UpdateFunc: func(_, obj any) {
			set(obj)
		},
		DeleteFunc: func(obj any) {
			if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
				s.store.RemoveNode(key.Name)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("plugin %s: watching nodes: %w", Name, err)
	}
	return nil
}

func workloadKeys(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	names := workloadsOf(pod)
	for i := range names {
		names[i] = pod.Namespace + "/" + names[i]
	}
	return names, nil
}

// workloadsOf returns the names under which the pod's workload can be referred to, beside the pod's own: its controller
// and, when that is a ReplicaSet of a Deployment, the Deployment.
func workloadsOf(pod *corev1.Pod) []string {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return nil
	}
	names := []string{owner.Name}
	if hash := pod.Labels["pod-template-hash"]; owner.Kind == "ReplicaSet" && hash != "" {
		if suffix := "-" + hash; len(owner.Name) > len(suffix) && owner.Name[len(owner.Name)-len(suffix):] == suffix {
			names = append(names, owner.Name[:len(owner.Name)-len(suffix)])
		}
	}
	return names
}

func (s *Shared) assume(pod *corev1.Pod, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assumed[pod.UID] = placement{pod: pod, node: node}
}

func (s *Shared) forget(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.assumed, uid)
}

// nodeOf returns the node that a pod is on, or on its way to; "" when it is not placed.
func (s *Shared) nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.assumed[pod.UID].node
}
