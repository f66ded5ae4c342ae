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

// waitingPods remembers, by dataset, the pods that must be near one, and puts them back into the scheduling queue
// when that dataset changes or when their patience admits another tier.
//
// A pod enters before its placements are looked up, so a change either is seen by the attempt or activates the
// pod after it. It leaves when it is bound or deleted. Memory is bounded by the pending pods of the profile.
// All fields behind mu; handlers and scheduling cycles call in from different goroutines.
type waitingPods struct {
	handle fwk.Handle
	queue  workqueue.TypedDelayingInterface[cause]

	mu        sync.Mutex
	pods      map[types.UID]waitingPod
	byDataset map[locality.DatasetKey]map[types.UID]struct{}
}

// cause is why pods are put back: a dataset changed, or one pod's patience ended a step.
type cause struct {
	dataset locality.DatasetKey
	pod     types.UID
}

type waitingPod struct {
	pod      *corev1.Pod
	datasets []locality.DatasetKey
}

// startWaitingPods returns an empty set whose goroutines end with ctx.
func startWaitingPods(ctx context.Context, handle fwk.Handle, datasets Datasets) (*waitingPods, error) {
	w := &waitingPods{
		handle:    handle,
		queue:     workqueue.NewTypedDelayingQueue[cause](),
		pods:      map[types.UID]waitingPod{},
		byDataset: map[locality.DatasetKey]map[types.UID]struct{}{},
	}
	_, err := handle.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				w.remove(pod.UID)
			}
		},
		DeleteFunc: onDeletedPod(func(pod *corev1.Pod) { w.remove(pod.UID) }),
	})
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	datasets.OnDatasetChange(w.datasetChanged)
	context.AfterFunc(ctx, w.queue.ShutDown)
	go w.run(klog.FromContext(ctx))
	return w, nil
}

// add remembers the pod; if patience is above zero the pod is put back after that long in any case.
func (w *waitingPods) add(pod *corev1.Pod, datasets []locality.DatasetKey, patience time.Duration) {
	if patience > 0 {
		w.queue.AddAfter(cause{pod: pod.UID}, patience)
	}
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
		w.queue.AddAfter(cause{dataset: dataset}, activationDelay)
	}
}

func (w *waitingPods) run(logger klog.Logger) {
	for {
		why, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		if pods := w.waitingFor(why); len(pods) > 0 {
			logger.V(2).Info("Trying waiting pods again", "changedDataset", why.dataset, "podWhosePatienceEnded", why.pod, "pods", len(pods))
			w.handle.Activate(logger, pods)
		}
		w.queue.Done(why)
	}
}

// waitingFor returns the pods concerned, keyed as Activate wants them.
func (w *waitingPods) waitingFor(why cause) map[string]*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]*corev1.Pod{}
	put := func(uid types.UID) {
		if waiting, ok := w.pods[uid]; ok {
			out[klog.KObj(waiting.pod).String()] = waiting.pod
		}
	}
	put(why.pod)
	for uid := range w.byDataset[why.dataset] {
		put(uid)
	}
	return out
}
