package waiting

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
)

// activationDelay joins changes of one thing that come close together into one activation. It also outlasts the
// scheduling attempt during which a change may arrive: activating a pod that is being tried has no effect.
const activationDelay = 200 * time.Millisecond

// Pods remembers pods by what they wait for, and puts them back into the scheduling queue when that changes or when
// a time has passed.
//
// A pod enters before the plugin looks at what it waits for, so a change either is seen by the attempt or activates
// the pod after it. It leaves when it is bound or deleted. Memory is bounded by the pending pods of the profile.
// All fields are behind mu; handlers and scheduling cycles call in from different goroutines.
type Pods[K comparable] struct {
	handle fwk.Handle
	queue  workqueue.TypedDelayingInterface[cause[K]]

	mu    sync.Mutex
	pods  map[types.UID]waitingPod[K]
	byKey map[K]map[types.UID]struct{}
}

// cause is why pods are put back: something changed, or one pod's time has passed.
type cause[K comparable] struct {
	key     K
	changed bool
	pod     types.UID
}

type waitingPod[K comparable] struct {
	pod  *corev1.Pod
	keys []K
}

// Start returns an empty set for one profile. Its goroutine ends with ctx.
func Start[K comparable](ctx context.Context, handle fwk.Handle) (*Pods[K], error) {
	w := &Pods[K]{
		handle: handle,
		queue:  workqueue.NewTypedDelayingQueue[cause[K]](),
		pods:   map[types.UID]waitingPod[K]{},
		byKey:  map[K]map[types.UID]struct{}{},
	}
	_, err := handle.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				w.Remove(pod.UID)
			}
		},
		DeleteFunc: OnDeletedPod(func(pod *corev1.Pod) { w.Remove(pod.UID) }),
	})
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	context.AfterFunc(ctx, w.queue.ShutDown)
	go w.run(klog.FromContext(ctx))
	return w, nil
}

// OnDeletedPod unwraps what an informer says of a pod whose deletion it may have missed.
func OnDeletedPod(f func(*corev1.Pod)) func(any) {
	return func(obj any) {
		if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = missed.Obj
		}
		if pod, ok := obj.(*corev1.Pod); ok {
			f(pod)
		}
	}
}

// Add remembers the pod, in the place of what was remembered of it before. If patience is above zero the pod is put
// back after that long in any case.
func (w *Pods[K]) Add(pod *corev1.Pod, keys []K, patience time.Duration) {
	if patience > 0 {
		w.queue.AddAfter(cause[K]{pod: pod.UID}, patience)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(pod.UID)
	w.pods[pod.UID] = waitingPod[K]{pod: pod, keys: keys}
	for _, key := range keys {
		if w.byKey[key] == nil {
			w.byKey[key] = map[types.UID]struct{}{}
		}
		w.byKey[key][pod.UID] = struct{}{}
	}
}

// Remove forgets the pod.
func (w *Pods[K]) Remove(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(uid)
}

func (w *Pods[K]) removeLocked(uid types.UID) {
	for _, key := range w.pods[uid].keys {
		delete(w.byKey[key], uid)
		if len(w.byKey[key]) == 0 {
			delete(w.byKey, key)
		}
	}
	delete(w.pods, uid)
}

// Len returns the number of pods remembered.
func (w *Pods[K]) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pods)
}

// Awaits reports whether a pod waits for key.
func (w *Pods[K]) Awaits(key K) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byKey[key]) > 0
}

// Changed puts back the pods that wait for key, a moment later.
func (w *Pods[K]) Changed(key K) {
	w.mu.Lock()
	awaited := len(w.byKey[key]) > 0
	w.mu.Unlock()
	if awaited {
		w.queue.AddAfter(cause[K]{key: key, changed: true}, activationDelay)
	}
}

func (w *Pods[K]) run(logger klog.Logger) {
	for {
		why, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		if pods := w.waitingFor(why); len(pods) > 0 {
			logger.V(2).Info("Trying waiting pods again", "changed", why.key, "podWhoseTimePassed", why.pod, "pods", len(pods))
			w.handle.Activate(logger, pods)
		}
		w.queue.Done(why)
	}
}

// waitingFor returns the pods concerned, keyed as Activate wants them.
func (w *Pods[K]) waitingFor(why cause[K]) map[string]*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]*corev1.Pod{}
	put := func(uid types.UID) {
		if waiting, ok := w.pods[uid]; ok {
			out[klog.KObj(waiting.pod).String()] = waiting.pod
		}
	}
	put(why.pod)
	if why.changed {
		for uid := range w.byKey[why.key] {
			put(uid)
		}
	}
	return out
}
