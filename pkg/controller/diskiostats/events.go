package diskiostats

import (
	"context"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// debounce is how long changes of a node are collected before they are worked on.
const debounce = time.Second

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// onChange queues the nodes that an object is about, before and after a change. A change that leaves the object the
// same, in the sense of the function given, is none. The queue keeps the earlier of two times for one node, so a node
// whose pods never stop changing is worked on all the same.
func onChange(same func(before, after client.Object) bool) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			// Another UID is another object, whose predecessor's deletion was missed.
			if e.ObjectOld.GetUID() == e.ObjectNew.GetUID() && same(e.ObjectOld, e.ObjectNew) {
				return
			}
			add(q, e.ObjectOld)
			add(q, e.ObjectNew)
		},
	}
}

func add(q queue, object client.Object) {
	if name := nodeName(object); name != "" {
		q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}, debounce)
	}
}

func sameNode(before, after client.Object) bool { return nodeName(before) == nodeName(after) }

func samePod(before, after client.Object) bool {
	return sameNode(before, after) && over(before) == over(after)
}

// over tells whether a pod has ended for good.
func over(object client.Object) bool {
	pod, ok := object.(*corev1.Pod)
	return ok && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed)
}

// sameSpec holds for each report of a driver: the status is not looked at.
func sameSpec(before, after client.Object) bool {
	return before.GetGeneration() == after.GetGeneration() &&
		reflect.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
}
