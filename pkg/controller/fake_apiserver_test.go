package controller

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

const (
	leasesPath = "/apis/coordination.k8s.io/v1/namespaces/vicinity-system/leases"
	eventsPath = "/api/v1/namespaces/vicinity-system/events"
)

// fakeAPIServer knows one Lease and takes events. It notes what it is asked for, so that tests can compare this with
// what the controller's role must grant. The scenarios use a real API server.
type fakeAPIServer struct {
	*httptest.Server

	mu       sync.Mutex
	lease    *coordinationv1.Lease
	requests map[string]bool // "verb resource"
	holders  []string        // of the Lease, as they were written
}

func newFakeAPIServer(t *testing.T) *fakeAPIServer {
	t.Helper()
	s := &fakeAPIServer{requests: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		s.note("get /version")
		answer(w, map[string]string{"gitVersion": "v1.37.1"})
	})
	// What kinds there are every authenticated user may know. The scope of pods is looked up.
	for path, object := range knownKinds() {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, object) })
	}
	mux.HandleFunc("GET "+leasesPath+"/vicinity-controller", s.getLease)
	mux.HandleFunc("POST "+leasesPath, func(w http.ResponseWriter, r *http.Request) { s.putLease(w, r, "create leases") })
	mux.HandleFunc("PUT "+leasesPath+"/vicinity-controller", func(w http.ResponseWriter, r *http.Request) { s.putLease(w, r, "update leases") })
	mux.HandleFunc("POST "+eventsPath, func(w http.ResponseWriter, r *http.Request) {
		s.note("create events")
		var event map[string]any
		_ = json.NewDecoder(r.Body).Decode(&event)
		answer(w, event)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.note("unexpected " + r.Method + " " + r.URL.Path)
		http.NotFound(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func knownKinds() map[string]any {
	return map[string]any{
		"/api":  metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}},
		"/api/v1": metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true}},
		},
	}
}

// config returns a configuration for clients. They would speak protobuf, which this server does not.
func (s *fakeAPIServer) config() *rest.Config {
	return &rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
}

func (s *fakeAPIServer) note(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[request] = true
}

// asked returns what the server was asked for, in alphabetical order.
func (s *fakeAPIServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for request := range s.requests {
		all = append(all, request)
	}
	slices.Sort(all)
	return all
}

// holder returns who holds the Lease, "" for nobody.
func (s *fakeAPIServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.holders) == 0 {
		return ""
	}
	return s.holders[len(s.holders)-1]
}

func (s *fakeAPIServer) getLease(w http.ResponseWriter, _ *http.Request) {
	s.note("get leases")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	answer(w, s.lease)
}

func (s *fakeAPIServer) putLease(w http.ResponseWriter, r *http.Request, request string) {
	s.note(request)
	s.mu.Lock()
	defer s.mu.Unlock()
	lease := &coordinationv1.Lease{}
	if err := json.NewDecoder(r.Body).Decode(lease); err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	if s.lease != nil && s.lease.ResourceVersion != lease.ResourceVersion {
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
		return
	}
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	s.holders = append(s.holders, holder)
	lease.ResourceVersion = strconv.Itoa(len(s.holders))
	s.lease = lease
	answer(w, lease)
}

func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: reason, Code: int32(code), Message: string(reason),
	})
}
