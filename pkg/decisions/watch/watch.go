package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

const (
	// pause between two transactions; what happens meanwhile is stored together.
	pause = 200 * time.Millisecond
	// retry is the pause after a failure.
	retry = 5 * time.Second
	// buryEvery is how often the store is compared with the cluster. Decisions may come out of a spool long after their
	// pod was deleted, and make it appear again.
	buryEvery = 5 * time.Minute
	// newborn is how old a decision is when the informer must have seen its pod.
	newborn = time.Minute
)

// Store is where everything goes.
type Store interface {
	SavePods(ctx context.Context, pods []store.Pod) error
	SaveNodes(ctx context.Context, nodes []store.Node) error
	SaveEvents(ctx context.Context, now time.Time, events []store.Event) (int, error)
	// Living returns the pods and nodes that the store thinks exist, by UID.
	Living(ctx context.Context) (pods map[string]store.Pod, nodes map[string]store.Node, err error)
}

// Options is what watching needs.
type Options struct {
	Client kubernetes.Interface
	Store  Store
	// Clock tells the time of deletions and of what objects do not date; it paces the writes, too.
	Clock clock.Clock
	// Registerer takes the metrics.
	Registerer prometheus.Registerer
}

type watcher struct {
	options Options
	notes   *notes
	dropped prometheus.Counter
	failed  prometheus.Counter
}

// Run watches until ctx ends and returns nil then.
func Run(ctx context.Context, o Options) error {
	w := &watcher{
		options: o,
		notes:   newNotes(),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vicinity_sniffer_watch_dropped_events_total",
			Help: "Changes of pods and nodes that were lost because the database did not take them in time.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vicinity_sniffer_watch_store_failures_total",
			Help: "Times at which changes of pods and nodes could not be stored; they are tried again.",
		}),
	}
	if err := errors.Join(o.Registerer.Register(w.dropped), o.Registerer.Register(w.failed)); err != nil {
		return fmt.Errorf("registering the metrics of the watcher: %w", err)
	}
	// No resync: an object that is shown again has not changed.
	factory := informers.NewSharedInformerFactoryWithOptions(o.Client, 0, informers.WithTransform(slim))
	pods, nodes := factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer()
	podHandler, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.pod(nil, obj) },
		UpdateFunc: w.pod,
		DeleteFunc: w.podDeleted,
	})
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	nodeHandler, err := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.node(nil, obj) },
		UpdateFunc: w.node,
		DeleteFunc: w.nodeDeleted,
	})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), podHandler.HasSynced, nodeHandler.HasSynced) {
		return nil // stopped before that
	}
	w.write(ctx, func() bool { return w.buryMissing(ctx, pods.GetStore(), nodes.GetStore()) })
	return nil
}

// slim leaves out what is not read and is large.
func slim(obj any) (any, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		o.ManagedFields, o.Annotations, o.Labels = nil, nil, nil
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName}
	case *corev1.Node:
		o.ManagedFields, o.Annotations, o.Status.Images = nil, nil, nil
	}
	return obj, nil
}

// final unpacks the last known state of an object whose deletion was not seen.
func final[T any](obj any) (T, bool) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	object, ok := obj.(T)
	return object, ok
}

func (w *watcher) pod(before, after any) {
	pod, ok := after.(*corev1.Pod)
	if !ok {
		return
	}
	old, _ := before.(*corev1.Pod)
	if old != nil && old.UID != pod.UID {
		// Deleted and made anew between two looks: an informer shows that as one update.
		w.podDeleted(old)
		old = nil
	}
	w.notes.pod(describePod(pod), podEvents(old, pod, w.options.Clock.Now()))
}

func (w *watcher) podDeleted(obj any) {
	pod, ok := final[*corev1.Pod](obj)
	if !ok {
		return
	}
	now := w.options.Clock.Now()
	last := describePod(pod)
	last.Gone = true
	if last.Ended.IsZero() {
		last.Ended = now
	}
	w.notes.pod(last, []store.Event{podDeleted(pod, now)})
}

func (w *watcher) node(before, after any) {
	node, ok := after.(*corev1.Node)
	if !ok {
		return
	}
	old, _ := before.(*corev1.Node)
	if old != nil && old.UID != node.UID {
		w.nodeDeleted(old)
		old = nil
	}
	events := nodeEvents(old, node, w.options.Clock.Now())
	if old != nil && len(events) == 0 && describeNode(old) == describeNode(node) {
		return // a heartbeat
	}
	w.notes.node(describeNode(node), events)
}

func (w *watcher) nodeDeleted(obj any) {
	node, ok := final[*corev1.Node](obj)
	if !ok {
		return
	}
	now := w.options.Clock.Now()
	last := describeNode(node)
	last.Removed, last.Ready = now, false
	w.notes.node(last, []store.Event{nodeRemoved(node, now)})
}

// write stores notes until ctx ends. At first and then every buryEvery it calls bury, which notes the end of what is gone
// and tells whether it could.
func (w *watcher) write(ctx context.Context, bury func() bool) {
	var nextBury time.Time
	for {
		now := w.options.Clock.Now()
		wait := pause
		if !now.Before(nextBury) {
			nextBury = now.Add(retry)
			if bury() {
				nextBury = now.Add(buryEvery)
			}
		}
		if !w.flush(ctx) {
			wait = retry
			w.notes.signal()
		}
		select {
		case <-w.options.Clock.After(wait):
		case <-ctx.Done():
		}
		select {
		case <-w.notes.more:
		case <-w.options.Clock.After(nextBury.Sub(w.options.Clock.Now())):
		case <-ctx.Done():
			// One more time, or what happened in the last moments would be missing until the next start.
			w.flush(context.WithoutCancel(ctx))
			return
		}
	}
}

func (w *watcher) flush(ctx context.Context) bool {
	batch := w.notes.take()
	if batch.dropped > 0 {
		w.dropped.Add(float64(batch.dropped))
		klog.FromContext(ctx).Info("Changes of pods and nodes were lost because the database did not take them in time", "events", batch.dropped)
		batch.dropped = 0
	}
	if err := batch.write(ctx, w.options.Store, w.options.Clock.Now()); err != nil {
		w.failed.Inc()
		klog.FromContext(ctx).Error(err, "Changes of pods and nodes could not be stored, trying again", "in", retry)
		w.notes.giveBack(batch)
		return false
	}
	return true
}

// buryMissing notes the end of what went while nobody watched.
func (w *watcher) buryMissing(ctx context.Context, pods, nodes cache.Store) bool {
	storedPods, storedNodes, err := w.options.Store.Living(ctx)
	if err != nil {
		w.failed.Inc()
		klog.FromContext(ctx).Error(err, "The stored pods could not be read, trying again", "in", retry)
		return false
	}
	for _, obj := range pods.List() {
		if pod, ok := obj.(*corev1.Pod); ok {
			delete(storedPods, string(pod.UID))
		}
	}
	for _, obj := range nodes.List() {
		if node, ok := obj.(*corev1.Node); ok {
			delete(storedNodes, string(node.UID))
		}
	}
	now := w.options.Clock.Now()
	for _, pod := range storedPods {
		if now.Sub(pod.LastAt) < newborn {
			continue
		}
		w.notes.pod(store.Pod{UID: pod.UID, Namespace: pod.Namespace, Name: pod.Name, Gone: true, Ended: now}, nil)
	}
	for _, node := range storedNodes {
		node.Removed, node.Ready = now, false
		w.notes.node(node, nil)
	}
	return true
}
