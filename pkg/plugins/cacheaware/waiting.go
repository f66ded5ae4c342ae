package cacheaware

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// activationDelay joins changes of one dataset that come close together into one activation. It also outlasts
// the scheduling attempt during which a change may arrive: activating a pod that is being tried has no effect.
const activationDelay = 200 * time.Millisecond

// waitingPods remembers, by dataset, the pods that require one, and puts them back into the scheduling queue
// when that dataset's placement changes.
//
// A pod enters before its placements are looked up, so a change either is seen by the attempt or activates the
// pod after it. It leaves when it is bound or deleted. Memory is bounded by the pending pods of the profile.
// All fields behind mu; handlers and scheduling cycles call in from different goroutines.
type waitingPods struct {
	handle fwk.Handle
	queue  workqueue.TypedDelayingInterface[locality.DatasetKey]

	mu        sync.Mutex
	pods      map[types.UID]waitingPod
	byDataset map[locality.DatasetKey]map[types.UID]struct{}
}

type waitingPod struct {
	pod      *corev1.Pod
	datasets []locality.DatasetKey
}

// startWaitingPods returns an empty set whose goroutines end with ctx.
func startWaitingPods(ctx context.Context, handle fwk.Handle, datasets Datasets) (*waitingPods, error) {
	w := &waitingPods{
		handle:    handle,
		queue:     workqueue.NewTypedDelayingQueue[locality.DatasetKey](),
		pods:      map[types.UID]waitingPod{},
		byDataset: map[locality.DatasetKey]map[types.UID]struct{}{},
	}
	_, err := handle.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				w.remove(pod.UID)
			}
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				w.remove(pod.UID)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	datasets.OnDatasetChange(w.datasetChanged)
	context.AfterFunc(ctx, w.queue.ShutDown)
	go w.run(klog.FromContext(ctx))
	return w, nil
}

func (w *waitingPods) add(pod *corev1.Pod, datasets []locality.DatasetKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(pod.UID)
	w.pods[pod.UID] = waitingPod{pod: pod, datasets: datasets}
	for _, dataset := range datasets {
		if w.byDataset[dataset] == nil {
			w.byDataset[dataset] = map[types.UID]struct{}{}
		}
		w.byDataset[dataset][pod.UID] = struct{}{}
	}
}

func (w *waitingPods) remove(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(uid)
}

func (w *waitingPods) removeLocked(uid types.UID) {
	for _, dataset := range w.pods[uid].datasets {
		delete(w.byDataset[dataset], uid)
		if len(w.byDataset[dataset]) == 0 {
			delete(w.byDataset, dataset)
		}
	}
	delete(w.pods, uid)
}

func (w *waitingPods) datasetChanged(dataset locality.DatasetKey) {
	w.mu.Lock()
	awaited := len(w.byDataset[dataset]) > 0
	w.mu.Unlock()
	if awaited {
		w.queue.AddAfter(dataset, activationDelay)
	}
}

func (w *waitingPods) run(logger klog.Logger) {
	for {
		dataset, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		if pods := w.of(dataset); len(pods) > 0 {
			logger.V(2).Info("Dataset changed; trying the pods that require it", "dataset", dataset, "pods", len(pods))
			w.handle.Activate(logger, pods)
		}
		w.queue.Done(dataset)
	}
}

// of returns the pods that wait for a dataset, keyed as Activate wants them.
func (w *waitingPods) of(dataset locality.DatasetKey) map[string]*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]*corev1.Pod, len(w.byDataset[dataset]))
	for uid := range w.byDataset[dataset] {
		pod := w.pods[uid].pod
		out[klog.KObj(pod).String()] = pod
	}
	return out
}
