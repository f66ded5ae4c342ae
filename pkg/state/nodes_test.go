package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// newTestNodes is an index over the given nodes, in an informer that is not started.
func newTestNodes(tb testing.TB, nodes ...*corev1.Node) *Nodes {
	tb.Helper()
	informer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Nodes().Informer()
	index, err := NewNodes(informer)
	if err != nil {
		tb.Fatal(err)
	}
	for _, node := range nodes {
		if err := informer.GetStore().Add(node); err != nil {
			tb.Fatal(err)
		}
	}
	return index
}

func labelled(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func ready(node *corev1.Node, status corev1.ConditionStatus) *corev1.Node {
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	return node
}

func TestNodesAreFoundByNameHostnameAndLabel(t *testing.T) {
	cordoned := labelled("cordoned", map[string]string{"zone": "b"})
	cordoned.Spec.Unschedulable = true
	index := newTestNodes(t,
		ready(labelled("n1", map[string]string{"zone": "a", locality.HostnameKey: "host-1"}), corev1.ConditionTrue),
		ready(labelled("down", map[string]string{"zone": "a", locality.HostnameKey: "host-2"}), corev1.ConditionUnknown),
		labelled("new", map[string]string{"zone": "c"}),
		cordoned,
	)
	byName := map[string]string{
		"n1": "n1", "host-1": "n1", // either name
		"new":  "new",            // has not reported yet
		"down": "", "host-2": "", // not ready
		"cordoned": "", // closed to new pods
		"nobody":   "",
	}
	for name, want := range byName {
		if got, ok := index.Named(name); got.Name != want || ok != (want != "") {
			t.Errorf("Named(%q) = %q, %v; want %q", name, got.Name, ok, want)
		}
	}
	for zone, want := range map[string]string{"a": "n1", "b": "", "c": "new", "d": ""} {
		if got, ok := index.Member(locality.Location{Key: "zone", Value: zone}); got.Name != want || ok != (want != "") {
			t.Errorf("Member(zone=%s) = %q, %v; want %q", zone, got.Name, ok, want)
		}
	}
}
