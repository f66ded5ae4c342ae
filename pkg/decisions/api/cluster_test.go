package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
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

func TestIntegrationAPI(t *testing.T) {
	s := start(t)
	for name, test := range map[string]func(*testing.T, *service){
		"everybody sees what they may":            testAccess,
		"a tenant's lists hold the tenant's pods": testTenantLists,
		"a list in pages":                         testPages,
		"a pod explained":                         testExplained,
		"victims of others have no names":         testVictims,
		"pending pods":                            testPending,
		"occupancy, stays and rates":              testCharts,
		"wrong questions":                         testWrongQuestions,
		"answers are as the document says":        testDocument,
	} {
		t.Run(name, func(t *testing.T) {
			one := *s
			one.t = t
			test(t, &one)
		})
	}
}

func testAccess(t *testing.T, s *service) {
	all := []string{
		"decisions", "decisions?namespace=team-3", "decisions/1", "pods/team-3/pod-3", "pending", "occupancy?since=2030-01-01T10:00:00Z", "stays", "rates",
		"events", "namespaces", "nodes", "sessions", "delays", "disks",
	}
	for _, path := range all {
		for user, want := range map[string]int{"everything": 200, "nothing": 403, "stranger": 401, "": 401} {
			if path == "decisions/1" && want == 403 {
				want = 404 // numbers do not tell what there is
			}
			if got, body := s.get(user, path); got != want {
				t.Errorf("%s as %q: %d, want %d: %s", path, user, got, want, body)
			}
		}
	}
	for path, want := range map[string]int{
		"decisions": 200, "decisions?namespace=team-1": 200, "decisions?namespace=team-1&namespace=team-2": 200, "decisions?namespace=team-3": 403,
		"decisions?namespace=team-1&namespace=team-3": 403, "pods/team-1/pod-1": 200, "pods/team-3/pod-3": 403, "pods/team-1/pod-3": 404,
		"pending": 200, "occupancy": 200, "stays": 200, "rates": 200, "events": 200, "namespaces": 200, "nodes": 403, "sessions": 403, "delays": 403, "disks": 403,
	} {
		if got, body := s.get("tenant", path); got != want {
			t.Errorf("%s as tenant: %d, want %d: %s", path, got, want, body)
		}
	}
}

func testTenantLists(t *testing.T, s *service) {
	for path, namespaces := range map[string]func() []string{
		"decisions": func() (out []string) {
			for _, d := range read[api.DecisionList](s, "tenant", "decisions?limit=1000").Items {
				out = append(out, d.Namespace)
			}
			return out
		},
		"stays": func() (out []string) {
			for _, p := range read[api.PodList](s, "tenant", "stays?since=2030-01-01T10:00:00Z&limit=1000").Items {
				out = append(out, p.Namespace)
			}
			return out
		},
		"events": func() (out []string) {
			for _, e := range read[api.EventList](s, "tenant", "events").Items {
				out = append(out, e.Namespace)
			}
			return out
		},
		"namespaces": func() []string { return read[api.NameList](s, "tenant", "namespaces").Items },
	} {
		found := namespaces()
		if len(found) == 0 || slices.ContainsFunc(found, func(n string) bool { return n != "team-1" && n != "team-2" }) {
			t.Errorf("%s: found pods of %v, want some of team-1 and team-2 only", path, found)
		}
	}
	if got := read[api.DecisionList](s, "tenant", "decisions?limit=1000"); len(got.Items) != 61 { // 2 * 30 and the preempting one
		t.Errorf("%d decisions, want 61", len(got.Items))
	}
}

func testPages(t *testing.T, s *service) {
	var sequences []uint64
	after := ""
	for range 10 {
		page := read[api.DecisionList](s, "everything", "decisions?limit=50&after="+after)
		for _, d := range page.Items {
			sequences = append(sequences, d.Sequence)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	var want []uint64
	for n := uint64(301); n > 0; n-- {
		want = append(want, n)
	}
	if diff := cmp.Diff(want, sequences); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func testExplained(t *testing.T, s *service) {
	got := read[api.PodHistory](s, "tenant", "pods/team-1/pod-1?node=node-41")
	if len(got.Attempts) != 1 || len(got.Events) != 1 || got.Pod.Node != "node-1" {
		t.Fatalf("%+v: want one attempt, one event and node-1", got)
	}
	attempt := got.Attempts[0]
	if !strings.HasPrefix(attempt.Explanation.Headline, "The pod is on node-1") || !strings.HasPrefix(attempt.WhyNot, "node-41 was rejected") {
		t.Errorf("found %+v and %q", attempt.Explanation, attempt.WhyNot)
	}
	if attempt.Record == nil || attempt.Record.Scores == nil || len(attempt.Record.Scores.Top) != 5 {
		t.Errorf("record %+v: want the scores of five nodes", attempt.Record)
	}
	one := read[api.Explained](s, "tenant", "decisions/"+fmt.Sprint(attempt.ID)+"?node=runner-up-1")
	if !strings.HasPrefix(one.WhyNot, "runner-up-1 passed every filter") {
		t.Errorf("found %q", one.WhyNot)
	}
}

func testVictims(t *testing.T, s *service) {
	names := func(user string) (out []string) {
		history := read[api.PodHistory](s, user, "pods/team-1/pod-301")
		for _, v := range history.Attempts[0].Record.Preemption.Victims {
			out = append(out, v.Namespace+"/"+v.Name)
		}
		return append(out, history.Attempts[0].Explanation.Details...)
	}
	all, some := strings.Join(names("everything"), "\n"), strings.Join(names("tenant"), "\n")
	if !strings.Contains(all, "team-9/secret") || !strings.Contains(all, "team-2/mine") {
		t.Errorf("who may see everything sees %s", all)
	}
	if strings.Contains(some, "secret") || strings.Contains(some, "team-9") || !strings.Contains(some, "team-2/mine") {
		t.Errorf("the tenant sees %s", some)
	}
}

func testPending(t *testing.T, s *service) {
	got := read[api.PendingList](s, "everything", "pending?sample=3")
	if len(got.Items) != 2 || got.Items[0].Pods != 30 || got.Items[0].Plugin != "DiskIO" || len(got.Items[0].Sample) != 3 || len(got.Items[0].Advice) == 0 {
		t.Errorf("%+v: want 30 pods that wait for DiskIO, three of them named, with advice", got.Items)
	}
}

// testCharts: pod n is bound at n*10 ms + 4 ms and stays; 270 of the 300 have a node.
func testCharts(t *testing.T, s *service) {
	o := read[api.Occupancy](s, "everything", "occupancy?since=2030-01-01T10:00:00Z&until=2030-01-01T10:00:04Z&intervals=4")
	perInterval := make([]int, 4)
	for _, cell := range o.Cells {
		perInterval[cell[1]] += cell[2]
	}
	// Bound before second 1: numbers 1 to 99, of which 9 had no node.
	if diff := cmp.Diff([]int{90, 180, 270, 270}, perInterval); diff != "" {
		t.Errorf("pods on nodes in each second (-want +got)\n%s", diff)
	}
	if len(o.Nodes) != 90 {
		t.Errorf("%d nodes, want 90", len(o.Nodes))
	}
	rates := read[api.RateList](s, "everything", "rates?since=2030-01-01T10:00:00Z&until=2030-01-01T10:01:00Z")
	if len(rates.Items) != 1 || rates.Items[0].Count[trace.OutcomeBound] != 270 || rates.Items[0].Count[trace.OutcomeUnschedulable] != 31 {
		t.Errorf("rates %+v", rates)
	}
	stays := read[api.PodList](s, "everything", "stays?since=2030-01-01T10:00:00Z&until=2030-01-01T10:00:04Z&node=node-3&limit=2")
	if len(stays.Items) != 2 || !stays.Truncated {
		t.Errorf("stays %+v: want two of three", stays)
	}
}

func testWrongQuestions(t *testing.T, s *service) {
	many := strings.Repeat("namespace=a&", 65)
	for path, want := range map[string]string{
		"decisions?limit=0": "from 1 to 1000", "decisions?limit=x": "from 1 to 1000", "decisions?since=yesterday": "want a time such as",
		"decisions?after=zzz": "want the next of an earlier answer", "decisions?outcome=Lost": "want one of", "decisions?nmespace=a": "no such parameter",
		"decisions?" + many: "at most 64", "decisions/abc": "want the number", "rates?since=2000-01-01T00:00:00Z": "want at most", "occupancy?intervals=9999": "from 1 to 500",
		"decisions?since=9999-01-01T00:00:00Z": "want a time such as",
	} {
		status, body := s.get("everything", path)
		if status != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%.60s: %d %s, want 400 and %q", path, status, body, want)
		}
	}
	for _, path := range []string{"nothing", "decisions/99999", "pods/team-1/nobody"} {
		if status, body := s.get("everything", path); status != http.StatusNotFound {
			t.Errorf("%s: %d %s, want 404", path, status, body)
		}
	}
	hostile := read[api.DecisionList](s, "everything", "decisions?pod="+"%27%3B%20DROP%20TABLE%20decisions%3B--")
	if len(hostile.Items) != 0 {
		t.Errorf("found %v", hostile)
	}
}

// testDocument checks an answer of each path against its schema.
func testDocument(t *testing.T, s *service) {
	status, body := s.get("", "openapi.json")
	if status != http.StatusOK {
		t.Fatalf("the document: %d", status)
	}
	var document struct {
		Paths      map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	must(t, json.Unmarshal(body, &document))
	answers := map[string][2]string{
		"/decisions": {"decisions", "DecisionList"}, "/decisions/{id}": {"decisions/1?node=x", "Explained"}, "/pods/{namespace}/{name}": {"pods/team-1/pod-1", "PodHistory"},
		"/pending": {"pending", "PendingList"}, "/occupancy": {"occupancy?since=2030-01-01T10:00:00Z", "Occupancy"}, "/stays": {"stays", "PodList"},
		"/rates": {"rates?since=2030-01-01T10:00:00Z", "RateList"}, "/events": {"events", "EventList"}, "/namespaces": {"namespaces", "NameList"},
		"/nodes": {"nodes", "NodeList"}, "/sessions": {"sessions", "SessionList"}, "/delays": {"delays", "DelayList"}, "/disks": {"disks", "DiskList"},
	}
	for path := range document.Paths {
		answer, tried := answers[path]
		if !tried {
			t.Errorf("%s is in the document, and not tried here", path)
			continue
		}
		_, body := s.get("everything", answer[0])
		check(t, document.Components.Schemas, answer[1], answer[0], body)
	}
	if len(answers) != len(document.Paths) {
		t.Errorf("the document has %d paths, want %d", len(document.Paths), len(answers))
	}
	_, problem := s.get("", "decisions")
	check(t, document.Components.Schemas, "Problem", "a problem", problem)
}

// check validates with the library that the API server validates custom resources with, which knows no references: they
// are put in place.
func check(t *testing.T, schemas map[string]any, name, what string, body []byte) {
	t.Helper()
	encoded, err := json.Marshal(resolve(schemas, schemas[name]))
	must(t, err)
	var schema spec.Schema
	must(t, json.Unmarshal(encoded, &schema))
	var value any
	must(t, json.Unmarshal(body, &value))
	if result := validate.NewSchemaValidator(&schema, nil, what, strfmt.Default).Validate(value); !result.IsValid() {
		t.Errorf("%s is no %s: %v\n%.500s", what, name, result.Errors, body)
	}
}

func resolve(schemas map[string]any, node any) any {
	switch n := node.(type) {
	case map[string]any:
		if reference, ok := n["$ref"].(string); ok {
			return resolve(schemas, schemas[strings.TrimPrefix(reference, "#/components/schemas/")])
		}
		out := map[string]any{}
		for key, value := range n {
			out[key] = resolve(schemas, value)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i := range n {
			out[i] = resolve(schemas, n[i])
		}
		return out
	}
	return node
}
