package diskiostats

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// added notes what is added to a queue, and fails what does not wait.
type added struct {
	queue
	t     *testing.T
	nodes []string
}

func (a *added) AddAfter(r reconcile.Request, after time.Duration) {
	if after != time.Second {
		a.t.Errorf("%s is queued after %s, want 1s", r.Name, after)
	}
	a.nodes = append(a.nodes, r.Name)
}

func TestWhichChangesCount(t *testing.T) {
	withUID := func(o client.Object, uid types.UID) client.Object { o.SetUID(uid); return o }
	reported := stats("io", "s")
	reported.ResourceVersion = "2"
	widened := stats("io", "s", "a")
	widened.Generation = 2
	orphaned := stats("io", "s")
	orphaned.OwnerReferences = []metav1.OwnerReference{{Name: "n1"}}

	pods, disks, reports, nodes := onChange(samePod), onChange(sameNode), onChange(sameSpec), onChange(sameNode)
	tests := map[string]struct {
		handler       handler.EventHandler
		before, after client.Object
		want          []string
	}{
		"a pod appears":                    {handler: pods, after: pod("a", "n1", ""), want: []string{"n1"}},
		"a pod without a node":             {handler: pods, after: pod("a", "", "")},
		"a pod vanishes":                   {handler: pods, before: pod("a", "n1", ""), want: []string{"n1"}},
		"a pod starts":                     {handler: pods, before: pod("a", "n1", corev1.PodPending), after: pod("a", "n1", corev1.PodRunning)},
		"a pod ends":                       {handler: pods, before: pod("a", "n1", corev1.PodRunning), after: pod("a", "n1", corev1.PodFailed), want: []string{"n1", "n1"}},
		"a pod is bound":                   {handler: pods, before: pod("a", "", ""), after: pod("a", "n1", ""), want: []string{"n1"}},
		"another pod of the name":          {handler: pods, before: pod("a", "n1", ""), after: withUID(pod("a", "n2", ""), "b"), want: []string{"n1", "n2"}},
		"disks are described":              {handler: disks, after: devices("io", "d", "n1"), want: []string{"n1"}},
		"a description changes":            {handler: disks, before: devices("io", "d", "n1"), after: devices("io", "d", "n1")},
		"a description names another node": {handler: disks, before: devices("io", "d", "n1"), after: devices("io", "d", "n2"), want: []string{"n1", "n2"}},
		"a description is gone":            {handler: disks, before: devices("io", "d", "n1"), want: []string{"n1"}},
		"a driver reports":                 {handler: reports, before: stats("io", "s"), after: reported},
		"somebody edits the list":          {handler: reports, before: stats("io", "s"), after: widened, want: []string{"n1", "n1"}},
		"somebody removes the owner":       {handler: reports, before: orphaned, after: stats("io", "s"), want: []string{"n1", "n1"}},
		"somebody deletes the object":      {handler: reports, before: stats("io", "s"), want: []string{"n1"}},
		"a node appears":                   {handler: nodes, after: node("n1"), want: []string{"n1"}},
		"a node's heartbeat":               {handler: nodes, before: node("n1"), after: node("n1")},
		"another node of the name":         {handler: nodes, before: node("n1"), after: withUID(node("n1"), "other"), want: []string{"n1", "n1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := &added{t: t}
			ctx := t.Context()
			switch {
			case tt.before == nil:
				tt.handler.Create(ctx, event.CreateEvent{Object: tt.after}, q)
			case tt.after == nil:
				tt.handler.Delete(ctx, event.DeleteEvent{Object: tt.before}, q)
			default:
				tt.handler.Update(ctx, event.UpdateEvent{ObjectOld: tt.before, ObjectNew: tt.after}, q)
			}
			if diff := cmp.Diff(tt.want, q.nodes); diff != "" {
				t.Errorf("queued nodes (-want +got):\n%s", diff)
			}
		})
	}
}
