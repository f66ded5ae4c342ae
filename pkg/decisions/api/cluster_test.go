package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/manifests"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const system = "vicinity-system"

// service is the API on a store with 300 records, of namespaces team-0 to team-9, and a real API server that knows four
// users.
type service struct {
	t      *testing.T
	url    string
	store  *store.Store
	tokens map[string]string
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T) *service {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real control plane: not with -short")
	}
	binaries, err := localcluster.Build(t.Context(), t.Output())
	must(t, err)
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{Name: "decisions", Binaries: binaries, Progress: t.Output()})
	must(t, err)
	t.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	admin := kubernetes.NewForConfigOrDie(cluster.AdminConfig())
	install(t, cluster)
	s := &service{t: t, tokens: users(t, admin)}
	s.store = fill(t)

	// The service itself has the rights of the manifests, so that a missing one shows.
	kubeconfig, err := cluster.ServiceAccountKubeconfig(t.Context(), system, "vicinity-sniffer")
	must(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	must(t, err)
	access, err := api.NewAccess(kubernetes.NewForConfigOrDie(config))
	must(t, err)
	reports, err := api.NewCluster(config)
	must(t, err)
	mux := http.NewServeMux()
	must(t, api.Register(mux, api.Options{
		Store: s.store, Access: access, Cluster: reports, Clock: clocktesting.NewFakePassiveClock(storetest.Epoch().Add(time.Hour)),
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL + "/api/v1/"
	return s
}

// install creates what manifests/install.yaml has, but for what would need nodes to run on.
func install(t *testing.T, cluster *localcluster.Cluster) {
	t.Helper()
	kube, err := client.New(cluster.AdminConfig(), client.Options{})
	must(t, err)
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests.Install()), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if kind := object.GetKind(); kind != "Deployment" && kind != "DaemonSet" && kind != "" {
			must(t, kube.Create(t.Context(), object))
		}
	}
}

// users are four: one who may do everything, one who may get pods in team-1 and team-2, one who may do nothing, and a
// token that nobody issued.
func users(t *testing.T, admin kubernetes.Interface) map[string]string {
	t.Helper()
	ctx := t.Context()
	for _, name := range []string{"everything", "tenant", "nothing"} {
		_, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		must(t, err)
	}
	subject := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: name}}
	}
	_, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everything"}, Subjects: subject("everything"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	must(t, err)
	for _, namespace := range []string{"team-1", "team-2"} {
		_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		must(t, err)
		_, err = admin.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, Subjects: subject("tenant"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "view"},
		}, metav1.CreateOptions{})
		must(t, err)
	}
	tokens := map[string]string{"stranger": "made-up"}
	for _, name := range []string{"everything", "tenant", "nothing"} {
		token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		must(t, err)
		tokens[name] = token.Status.Token
	}
	return tokens
}

// fill stores 300 records; each tenth, of team-0, is of a pod that no node took. Record 301 is a preemption whose victims
// are told later.
func fill(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	var batch []store.Decision
	for n := 1; n <= 300; n++ {
		r := storetest.Bound("s", n)
		if n%10 == 0 {
			r = storetest.Unschedulable("s", n, "DiskIO", "too slow <b>")
		}
		batch = append(batch, storetest.Decision(t, r))
	}
	preempting, victims := storetest.Unschedulable("s", 301, "NodeResourcesFit", "Insufficient cpu"), storetest.Bound("s", 302)
	preempting.Preemption = &trace.Preemption{NominatedNode: "node-5"}
	victims.Pod, victims.Kind, victims.Outcome, victims.Node = preempting.Pod, trace.KindVictims, "", ""
	victims.Preemption = &trace.Preemption{NominatedNode: "node-5", Victims: []trace.Victim{
		{Namespace: "team-9", Name: "secret", UID: "v1"}, {Namespace: "team-2", Name: "mine", UID: "v2"},
	}}
	batch = append(batch, storetest.Decision(t, preempting), storetest.Decision(t, victims))
	at := storetest.Epoch().Add(time.Hour)
	_, err = s.SaveDecisions(t.Context(), at, batch)
	must(t, err)
	must(t, s.SaveNodes(t.Context(), []store.Node{{UID: "n1", Name: "node-1", Zone: "a", Ready: true, Added: storetest.Epoch()}}))
	_, err = s.SaveEvents(t.Context(), at, []store.Event{
		{Identity: "1", Event: trace.Event{Object: "Pod", Namespace: "team-1", Name: "pod-1", UID: "s-uid-1", Event: "Running", Time: at}},
		{Identity: "2", Event: trace.Event{Object: "Node", Name: "node-1", Event: "Ready", Time: at}},
	})
	must(t, err)
	return s
}

// get asks as one of the users.
func (s *service) get(user, path string) (int, []byte) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	must(s.t, err)
	if token := s.tokens[user]; token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(s.t, err)
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		s.t.Errorf("%s: content type %q", path, got)
	}
	return response.StatusCode, body
}

// read asks, wants an answer, and decodes it.
func read[T any](s *service, user, path string) T {
	s.t.Helper()
	status, body := s.get(user, path)
	if status != http.StatusOK {
		s.t.Fatalf("%s as %s: %d %s", path, user, status, body)
	}
	var out T
	must(s.t, json.Unmarshal(body, &out))
	return out
}
