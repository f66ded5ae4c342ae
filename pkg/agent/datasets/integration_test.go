package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

const testNamespace = "vicinity-system"

// apiServer is a real control plane and a client with all rights.
type apiServer struct {
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
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{Name: "datasets", Binaries: binaries, Progress: t.Output()})
	must(t, err)
	t.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	must(t, errors.Join(clientgoscheme.AddToScheme(scheme), vicinityv1alpha1.AddToScheme(scheme)))
	config := cluster.AdminConfig()
	httpClient, err := rest.HTTPClientFor(config)
	must(t, err)
	t.Cleanup(httpClient.CloseIdleConnections)
	admin, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: httpClient})
	must(t, err)
	return &apiServer{cluster, admin}
}

// install creates what manifests/install.yaml has for agents; with or without our CRDs.
func (s *apiServer) install(t *testing.T) {
	t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests.Install()), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if object.GetKind() == "Namespace" || strings.HasPrefix(object.GetName(), "vicinity-agent") && object.GetKind() != "DaemonSet" {
			must(t, s.admin.Create(t.Context(), object))
		}
	}
}

func (s *apiServer) installCRD(t *testing.T) {
	t.Helper()
	content, err := fs.ReadFile(manifests.CRDs(), "chart/crds/vicinity.dev_nodedatasetcaches.yaml")
	must(t, err)
	crd := &unstructured.Unstructured{}
	must(t, utilyaml.Unmarshal(content, crd))
	must(t, s.admin.Create(t.Context(), crd))
	s.eventually(t, "the kind is served", func(ctx context.Context) error {
		return s.admin.List(ctx, &vicinityv1alpha1.NodeDatasetCacheList{})
	})
}

func (s *apiServer) createNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	must(t, s.admin.Create(t.Context(), node))
	return node
}

func (s *apiServer) cache(t *testing.T, name string) *vicinityv1alpha1.NodeDatasetCache {
	t.Helper()
	found := &vicinityv1alpha1.NodeDatasetCache{}
	must(t, s.admin.Get(t.Context(), client.ObjectKey{Name: name}, found))
	return found
}

func (s *apiServer) eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 45*time.Second, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v: %v", what, err, last)
	}
}

// agentOf is a client configuration with the rights of the agent on a node.
func (s *apiServer) agentOf(t *testing.T, node string) *rest.Config {
	t.Helper()
	kubeconfig, err := s.cluster.NodeBoundKubeconfig(t.Context(), testNamespace, "vicinity-agent", node)
	must(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	must(t, err)
	return config
}

func (s *apiServer) storeOf(t *testing.T, tokenOf, node string) *objectStore {
	t.Helper()
	store, err := newObjectStore(s.agentOf(t, tokenOf), node)
	must(t, err)
	t.Cleanup(store.Close)
	return store
}

func TestIntegrationAgentReports(t *testing.T) {
	s := startAPIServer(t)
	s.install(t)
	node := s.createNode(t, "n1")
	s.createNode(t, "n2")

	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 300000)
	writeFile(t, filepath.Join(path, "team/ds2/file"), 5000)
	unused := &fakeStore{}
	c := newTestCollector(t, unused, 0, configv1.DatasetRoot{Path: path, Medium: "HDD"})
	c.reporter.store = s.storeOf(t, "n1", "n1")
	t.Cleanup(func() { c.reporter.store = unused })

	t.Run("without the CRD a round says what to apply", func(t *testing.T) {
		err := c.Collect(testContext(t), start())
		if err == nil || !strings.Contains(err.Error(), "apply the CRD nodedatasetcaches.vicinity.dev") {
			t.Errorf("Collect() = %v, want advice", err)
		}
	})
	s.installCRD(t)

	var first *vicinityv1alpha1.NodeDatasetCache
	t.Run("the bytes of the tree are reported, and the Node owns the report", func(t *testing.T) {
		collect(t, c, start().Add(15*time.Second))
		first = s.cache(t, "n1")
		expectReport(t, first, path, start().Add(15*time.Second))
		want := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: node.UID}}
		if diff := cmp.Diff(want, first.OwnerReferences); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}
		for _, entry := range first.ManagedFields {
			if entry.Manager != "vicinity-agent" || entry.Operation != metav1.ManagedFieldsOperationApply {
				t.Errorf("fields managed by %s through %s, want the agent's by apply only", entry.Manager, entry.Operation)
			}
		}
	})
	t.Run("a round without news writes nothing", func(t *testing.T) {
		collect(t, c, start().Add(40*time.Second))
		if got := s.cache(t, "n1"); got.ResourceVersion != first.ResourceVersion {
			t.Errorf("resource version %s, want %s as before", got.ResourceVersion, first.ResourceVersion)
		}
	})
	t.Run("growth is reported, and a dataset that is gone vanishes", func(t *testing.T) {
		writeFile(t, filepath.Join(path, "team/ds1/more"), 300000)
		must(t, os.RemoveAll(filepath.Join(path, "team/ds2")))
		collect(t, c, start().Add(50*time.Second))
		expectReport(t, s.cache(t, "n1"), path, start().Add(50*time.Second))
	})
	t.Run("a new agent reads the report of the one before", func(t *testing.T) {
		status, err := s.storeOf(t, "n1", "n1").Read(t.Context())
		must(t, err)
		if diff := cmp.Diff(s.cache(t, "n1").Status, *status); diff != "" {
			t.Errorf("Read() (-object +got):\n%s", diff)
		}
	})
	t.Run("a deleted report is written anew", func(t *testing.T) {
		must(t, s.admin.Delete(t.Context(), s.cache(t, "n1")))
		collect(t, c, start().Add(2*time.Minute))
		got := s.cache(t, "n1")
		expectReport(t, got, path, start().Add(2*time.Minute))
		if len(got.OwnerReferences) != 1 {
			t.Errorf("owners %v, want the Node", got.OwnerReferences)
		}
	})
	t.Run("the largest report that is ever sent is taken", func(t *testing.T) {
		testLargestReport(t, s)
	})
	t.Run("an agent may write the objects of its own node only", func(t *testing.T) {
		testForeignNode(t, s)
	})
	t.Run("an agent may do nothing else", func(t *testing.T) {
		testLeastPrivilege(t, s)
	})
}

// expectReport checks that a report says what lies in the tree.
func expectReport(t *testing.T, got *vicinityv1alpha1.NodeDatasetCache, path string, at time.Time) {
	t.Helper()
	if !got.Status.ObservedAt.Time.Equal(at) {
		t.Errorf("observed at %s, want %s", got.Status.ObservedAt, at)
	}
	found := map[datasetName]int64{}
	for _, entry := range got.Status.Datasets {
		found[datasetName{entry.Namespace, entry.Name}] = entry.CachedBytes
		if entry.Medium != vicinityv1alpha1.MediumHDD || !entry.ObservedAt.Time.Equal(at) || entry.TotalBytes != 0 {
			t.Errorf("entry %+v, want it on HDD, counted at %s, total unknown", entry, at)
		}
	}
	if diff := cmp.Diff(referenceCounts(t, path), found); diff != "" || len(found) == 0 {
		t.Errorf("datasets (-tree +report):\n%s", diff)
	}
}

func testLargestReport(t *testing.T, s *apiServer) {
	t.Helper()
	for name, length := range map[string]int{"long names": 253, "many datasets": 20} {
		all := map[key]observation{}
		for i := range maxEntries {
			dataset := fmt.Sprintf("%s%04d", strings.Repeat("d", length-4), i)
			all[key{datasetName{strings.Repeat("n", min(63, length)), dataset}, "Memory"}] = observation{bytes: 1 << 40, at: start()}
		}
		list, _ := entries(all)
		err := s.storeOf(t, "n2", "n2").Write(t.Context(), vicinityv1alpha1.NodeDatasetCacheStatus{
			ObservedAt: metav1.NewTime(start()), Datasets: list,
		})
		if err != nil {
			t.Errorf("%s, %d entries: %v", name, len(list), err)
		} else if got := len(s.cache(t, "n2").Status.Datasets); got != len(list) {
			t.Errorf("%s: %d entries stored, want %d", name, got, len(list))
		}
	}
}

func testForeignNode(t *testing.T, s *apiServer) {
	t.Helper()
	before := s.cache(t, "n2")
	status := vicinityv1alpha1.NodeDatasetCacheStatus{ObservedAt: metav1.NewTime(start().Add(time.Hour))}
	expectRefusal := func(what string, err error, reason string) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want it forbidden because %q", what, err, reason)
		}
	}
	const notItsOwn = `an agent may write only the objects of its own node: this one runs on "n1", and the object is "n2"`
	store := s.storeOf(t, "n1", "n2")
	expectRefusal("the object of another node", store.Write(t.Context(), status), notItsOwn)
	expectRefusal("the status of another node", store.ApplyStatus(t.Context(), &vicinityv1alpha1.NodeDatasetCache{Status: status}), notItsOwn)

	s.createNode(t, "n3")
	expectRefusal("the first object of another node", s.storeOf(t, "n1", "n3").Write(t.Context(), status),
		`an agent may write only the objects of its own node: this one runs on "n1", and the object is "n3"`)
	err := s.admin.Get(t.Context(), client.ObjectKey{Name: "n3"}, &vicinityv1alpha1.NodeDatasetCache{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the object of n3: %v, want none", err)
	}

	unbound, err := s.cluster.ServiceAccountKubeconfig(t.Context(), testNamespace, "vicinity-agent")
	must(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(unbound)
	must(t, err)
	anyNode, err := newObjectStore(config, "n2")
	must(t, err)
	t.Cleanup(anyNode.Close)
	expectRefusal("a token without a node", anyNode.Write(t.Context(), status),
		"expected the token of an agent's pod, which tells its node, and found one that is bound to no node")

	if got := s.cache(t, "n2"); got.ResourceVersion != before.ResourceVersion {
		t.Error("the object of the other node was changed")
	}
}

func testLeastPrivilege(t *testing.T, s *apiServer) {
	t.Helper()
	agent, err := client.New(s.agentOf(t, "n1"), client.Options{Scheme: s.admin.Scheme()})
	must(t, err)
	own := s.cache(t, "n1")
	for what, err := range map[string]error{
		"delete its report":  agent.Delete(t.Context(), own),
		"list the reports":   agent.List(t.Context(), &vicinityv1alpha1.NodeDatasetCacheList{}),
		"replace its report": agent.Update(t.Context(), own),
		"list the nodes":     agent.List(t.Context(), &corev1.NodeList{}),
		"change its node":    agent.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, client.RawPatch("application/merge-patch+json", []byte(`{}`))),
		"read secrets":       agent.List(t.Context(), &corev1.SecretList{}),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want it forbidden", what, err)
		}
	}
}
