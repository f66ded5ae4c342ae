package diskiostats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2/ktesting"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
)

func TestMain(m *testing.M) {
	crlog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}

// cluster is a fake one that counts writes.
type cluster struct {
	client.WithWatch
	writes []string
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), diskiov1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	for _, indexed := range []client.Object{&corev1.Pod{}, &diskiov1alpha1.NodeDiskDevice{}, &diskiov1alpha1.NodeDiskIOStats{}} {
		b = b.WithIndex(indexed, nodeField, nodeNames)
	}
	c.WithWatch = b.WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, w client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			c.writes = append(c.writes, "apply")
			return w.Apply(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			c.writes = append(c.writes, "delete "+o.GetNamespace()+"/"+o.GetName())
			return w.Delete(ctx, o, opts...)
		},
	}).Build()
	return c
}

func (c *cluster) reconcile(t *testing.T, node string) error {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	r := &reconciler{client: c}
	_, err := r.Reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Name: node}})
	return err
}

// stats returns what there is, "namespace/name" to spec and owners.
func (c *cluster) stats(t *testing.T) map[string]string {
	t.Helper()
	var list diskiov1alpha1.NodeDiskIOStatsList
	if err := c.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for i := range list.Items {
		s := &list.Items[i]
		var owners []string
		for _, o := range s.OwnerReferences {
			owners = append(owners, fmt.Sprintf("%s %s %s", o.Kind, o.Name, o.UID))
		}
		found[s.Namespace+"/"+s.Name] = fmt.Sprintf("%s: %s; %s", s.Spec.NodeName, strings.Join(s.Spec.ReservedPods, " "), strings.Join(owners, ", "))
	}
	return found
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name)}}
}

func pod(name, node string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase},
	}
}

func devices(namespace, name, node string) *diskiov1alpha1.NodeDiskDevice {
	return &diskiov1alpha1.NodeDiskDevice{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: diskiov1alpha1.NodeDiskDeviceSpec{NodeName: node},
	}
}

// stats is the object of node n1.
func stats(namespace, name string, pods ...string) *diskiov1alpha1.NodeDiskIOStats {
	return &diskiov1alpha1.NodeDiskIOStats{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name)},
		Spec:       diskiov1alpha1.NodeDiskIOStatsSpec{NodeName: "n1", ReservedPods: pods},
	}
}

func TestReconcile(t *testing.T) {
	owned := stats("io", "n1-nodediskiostats", "a")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "uid-of-n1"}}
	tests := map[string]struct {
		objects []client.Object
		want    map[string]string
		writes  []string
	}{
		"a node with disks gets an object with its pods, in order, without those that are over": {
			objects: []client.Object{
				node("n1"), devices("io", "n1-nodediskdevice", "n1"), pod("b", "n1", corev1.PodRunning), pod("a", "n1", corev1.PodPending),
				pod("c", "n1", corev1.PodSucceeded), pod("d", "n1", corev1.PodFailed), pod("e", "n2", corev1.PodRunning), pod("f", "", corev1.PodPending),
			},
			want:   map[string]string{"io/n1-nodediskiostats": "n1: a b; Node n1 uid-of-n1"},
			writes: []string{"apply"},
		},
		"a node without pods has an empty list": {
			objects: []client.Object{node("n1"), devices("io", "any name", "n1")},
			want:    map[string]string{"io/n1-nodediskiostats": "n1: ; Node n1 uid-of-n1"}, writes: []string{"apply"},
		},
		"what is right is not written again": {
			objects: []client.Object{node("n1"), devices("io", "d", "n1"), pod("a", "n1", corev1.PodRunning), owned},
			want:    map[string]string{"io/n1-nodediskiostats": "n1: a; Node n1 uid-of-n1"},
		},
		"the list that the predecessor's scheduler left is replaced, and the object is owned": {
			objects: []client.Object{
				node("n1"), devices("io", "d", "n1"), stats("io", "n1-nodediskiostats", "gone-1", "gone-2"), pod("a", "n1", ""),
			},
			want: map[string]string{"io/n1-nodediskiostats": "n1: a; Node n1 uid-of-n1"}, writes: []string{"apply"},
		},
		"disks without a node get nothing, and what is there is the garbage collector's": {
			objects: []client.Object{devices("io", "d", "n1"), owned},
			want:    map[string]string{"io/n1-nodediskiostats": "n1: a; Node n1 uid-of-n1"},
		},
		"a node without disks gets nothing": {objects: []client.Object{node("n1"), pod("a", "n1", corev1.PodRunning)}, want: map[string]string{}},
		"when the disks are gone so is the object, but not somebody else's": {
			objects: []client.Object{node("n1"), owned, stats("io", "mine", "x")},
			want:    map[string]string{"io/mine": "n1: x; "}, writes: []string{"delete io/n1-nodediskiostats"},
		},
		"disks that moved to another namespace take the object along": {
			objects: []client.Object{node("n1"), devices("new", "d", "n1"), owned},
			want:    map[string]string{"new/n1-nodediskiostats": "n1: ; Node n1 uid-of-n1"},
			writes:  []string{"delete io/n1-nodediskiostats", "apply"},
		},
		"two drivers find an object each": {
			objects: []client.Object{node("n1"), devices("io", "d", "n1"), devices("vicinity-system", "d", "n1"), owned, pod("a", "n1", "")},
			want: map[string]string{
				"io/n1-nodediskiostats": "n1: a; Node n1 uid-of-n1", "vicinity-system/n1-nodediskiostats": "n1: a; Node n1 uid-of-n1",
			},
			writes: []string{"apply"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tt.objects...)
			if err := c.reconcile(t, "n1"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.stats(t)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.writes, c.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			before := len(c.writes)
			if err := c.reconcile(t, "n1"); err != nil || len(c.writes) != before {
				t.Errorf("again: want no error and no write, found %v and %v", err, c.writes[before:])
			}
		})
	}
}

func TestReservedPodsAreBounded(t *testing.T) {
	objects := []client.Object{node("n1"), devices("io", "d", "n1")}
	for i := range maxPods + 4 {
		objects = append(objects, pod(fmt.Sprintf("p%05d", i), "n1", corev1.PodRunning))
	}
	c := newCluster(t, objects...)
	if err := c.reconcile(t, "n1"); err != nil {
		t.Fatal(err)
	}
	var got diskiov1alpha1.NodeDiskIOStats
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "io", Name: "n1-nodediskiostats"}, &got); err != nil {
		t.Fatal(err)
	}
	pods := got.Spec.ReservedPods
	if len(pods) != maxPods || !slices.IsSorted(pods) || pods[0] != "p00000" {
		t.Errorf("want the first %d pods in order, found %d from %s on", maxPods, len(pods), pods[0])
	}
}

func TestANameThatIsTooLongIsNotTriedForEver(t *testing.T) {
	name := strings.Repeat("n", 250)
	c := newCluster(t, node(name), devices("io", "d", name))
	if err := c.reconcile(t, name); !errors.Is(err, reconcile.TerminalError(nil)) || !strings.Contains(err.Error(), "must be no more than 253") {
		t.Errorf("want a terminal error that tells the bound, found %v", err)
	}
}

func TestAnAPIServerThatRefusesIsAskedAgain(t *testing.T) {
	refused := errors.New("no quota")
	c := newCluster(t, node("n1"), devices("io", "d", "n1"), stats("old", "n1-nodediskiostats"))
	c.WithWatch = interceptor.NewClient(c.WithWatch, interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return refused
		},
	})
	err := c.reconcile(t, "n1")
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "applying NodeDiskIOStats io/n1-nodediskiostats") {
		t.Errorf("want the refusal and the object, found %v", err)
	}
	if errors.Is(err, reconcile.TerminalError(nil)) {
		t.Error("want another attempt, found a terminal error")
	}
	if found := c.stats(t); len(found) != 0 {
		t.Errorf("want the other object deleted all the same, found %v", found)
	}
}
