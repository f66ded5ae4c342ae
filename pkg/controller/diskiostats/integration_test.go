package diskiostats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2/ktesting"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/controller"
	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

const (
	installed  = "vicinity-system"
	statsOfN1  = "n1-nodediskiostats"
	patience   = 45 * time.Second
	healthPort = "127.0.0.1:0"
)

// apiServer is a real control plane with the manifests applied, and a client with all rights.
type apiServer struct {
	t       *testing.T
	cluster *localcluster.Cluster
	admin   client.Client
}

func startAPIServer(t *testing.T) *apiServer {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
	binaries, err := localcluster.Build(t.Context(), t.Output())
	must(t, err)
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{Name: "diskiostats", Binaries: binaries, Progress: t.Output()})
	must(t, err)
	t.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	must(t, errors.Join(clientgoscheme.AddToScheme(scheme), diskiov1alpha1.AddToScheme(scheme)))
	config := cluster.AdminConfig()
	httpClient, err := rest.HTTPClientFor(config)
	must(t, err)
	t.Cleanup(httpClient.CloseIdleConnections)
	admin, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: httpClient})
	must(t, err)
	s := &apiServer{t, cluster, admin}
	s.install()
	return s
}

// install creates what manifests/install.yaml has, but for what would need nodes to run on.
func (s *apiServer) install() {
	s.t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests.Install()), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			s.t.Fatal(err)
		}
		if kind := object.GetKind(); kind != "Deployment" && kind != "DaemonSet" && kind != "" {
			must(s.t, s.admin.Create(s.t.Context(), object))
		}
	}
	s.eventually("the kinds are served", func(ctx context.Context) error {
		return errors.Join(s.admin.List(ctx, &diskiov1alpha1.NodeDiskDeviceList{}), s.admin.List(ctx, &diskiov1alpha1.NodeDiskIOStatsList{}))
	})
}

// startController runs the controller with the rights that the manifests give it.
func (s *apiServer) startController() {
	s.t.Helper()
	kubeconfig, err := s.cluster.ServiceAccountKubeconfig(s.t.Context(), installed, "vicinity-controller")
	must(s.t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	must(s.t, err)
	_, ctx := ktesting.NewTestContext(s.t)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- controller.Run(ctx, config, controller.Options{
			Namespace: installed, HealthAddress: healthPort, MetricsAddress: healthPort, LeaderElect: true,
			Setups: []controller.Setup{Setup},
		})
	}()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("the controller ended: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
}

func (s *apiServer) eventually(what string, check func(context.Context) error) {
	s.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(s.t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		s.t.Fatalf("want %s: %v: %v", what, err, last)
	}
}

func (s *apiServer) create(object client.Object) {
	s.t.Helper()
	object.SetUID("")
	must(s.t, s.admin.Create(s.t.Context(), object))
}

// createPod binds a pod to a node, and returns its UID.
func (s *apiServer) createPod(name, node string) string {
	s.t.Helper()
	p := pod(name, node, "")
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	s.create(p)
	return string(p.UID)
}

// endPod lets a pod end, as a kubelet would.
func (s *apiServer) endPod(name string) {
	s.t.Helper()
	p := &corev1.Pod{}
	must(s.t, s.admin.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, p))
	p.Status.Phase = corev1.PodSucceeded
	must(s.t, s.admin.Status().Update(s.t.Context(), p))
}

func (s *apiServer) read(ctx context.Context, namespace string) (*diskiov1alpha1.NodeDiskIOStats, error) {
	found := &diskiov1alpha1.NodeDiskIOStats{}
	err := s.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: statsOfN1}, found)
	return found, err
}

// expectPods waits until the object of n1 lists the pods.
func (s *apiServer) expectPods(namespace string, uids ...string) *diskiov1alpha1.NodeDiskIOStats {
	s.t.Helper()
	slices.Sort(uids)
	var found *diskiov1alpha1.NodeDiskIOStats
	s.eventually(fmt.Sprintf("%s/%s with pods %v", namespace, statsOfN1, uids), func(ctx context.Context) (err error) {
		if found, err = s.read(ctx, namespace); err == nil && !slices.Equal(found.Spec.ReservedPods, uids) {
			err = fmt.Errorf("found %v", found.Spec.ReservedPods)
		}
		return err
	})
	return found
}

func (s *apiServer) expectGone(namespace string) {
	s.t.Helper()
	s.eventually("no "+namespace+"/"+statsOfN1, func(ctx context.Context) error {
		found, err := s.read(ctx, namespace)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return fmt.Errorf("found %v, owners %v", found.Spec, found.OwnerReferences)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestIntegrationReservedPodsFollowThePods(t *testing.T) {
	s := startAPIServer(t)
	n1 := node("n1")
	s.create(n1)
	s.create(devices(installed, "n1-nodediskdevice", "n1"))
	s.create(devices(installed, "n2-nodediskdevice", "n2"))
	// What the predecessor's scheduler left: a wrong list, and no owner.
	s.create(stats(installed, statsOfN1, "default-old-pod", "gone"))
	s.startController()

	// An empty list is a list: what others wrote goes.
	first := s.expectPods(installed)
	want := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: n1.UID}}
	if diff := cmp.Diff(want, first.OwnerReferences); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}

	a, b := s.createPod("a", "n1"), s.createPod("b", "n1")
	s.createPod("elsewhere", "n3")
	s.createPod("pending", "")
	s.expectPods(installed, a, b)
	s.endPod("a")
	s.expectPods(installed, b)
	must(t, s.admin.Delete(t.Context(), pod("b", "n1", ""), client.GracePeriodSeconds(0)))
	s.expectPods(installed)

	s.expectQuiet()
	s.expectFewWrites()

	// A driver of somebody else looks in its own namespace.
	must(t, s.admin.Delete(t.Context(), devices(installed, "n1-nodediskdevice", "n1")))
	s.create(devices("default", "n1-nodediskdevice", "n1"))
	s.expectGone(installed)
	s.expectPods("default")

	must(t, s.admin.Delete(t.Context(), node("n1")))
	s.expectGone("default")
	var list diskiov1alpha1.NodeDiskIOStatsList
	if err := s.admin.List(t.Context(), &list); err != nil || len(list.Items) > 0 {
		t.Errorf("want no object, also none for n2, which has no Node; found %v, %v", list.Items, err)
	}
}

// expectQuiet checks that nothing is written when a driver reports, nor when nothing happens.
func (s *apiServer) expectQuiet() {
	s.t.Helper()
	found, err := s.read(s.t.Context(), installed)
	must(s.t, err)
	found.Status.ObservedGeneration = &found.Generation
	must(s.t, s.admin.Status().Update(s.t.Context(), found))
	time.Sleep(2 * debounce)
	after, err := s.read(s.t.Context(), installed)
	must(s.t, err)
	if after.ResourceVersion != found.ResourceVersion {
		s.t.Errorf("want no write after a driver's report, found resource version %s, then %s", found.ResourceVersion, after.ResourceVersion)
	}
}

// expectFewWrites checks that pods which come one after the other are written together.
func (s *apiServer) expectFewWrites() {
	s.t.Helper()
	before, err := s.read(s.t.Context(), installed)
	must(s.t, err)
	const count = 40
	start := time.Now()
	uids := make([]string, count)
	for i := range uids {
		uids[i] = s.createPod(fmt.Sprintf("many-%d", i), "n1")
	}
	after := s.expectPods(installed, uids...)
	// One generation is one write.
	writes, atMost := after.Generation-before.Generation, int64(time.Since(start)/debounce)+1
	if writes < 1 || writes > atMost {
		s.t.Errorf("want 1 to %d writes for %d pods, found %d", atMost, count, writes)
	}
	for i := range uids {
		must(s.t, s.admin.Delete(s.t.Context(), pod(fmt.Sprintf("many-%d", i), "n1", ""), client.GracePeriodSeconds(0)))
	}
	s.expectPods(installed)
}
