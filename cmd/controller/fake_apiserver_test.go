package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fakeAPIServer serves what the reconcilers watch, of which there is nothing. It notes what else it is asked for. The
// reconcilers' own tests use a real API server.
type fakeAPIServer struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string // unexpected ones
}

func newFakeAPIServer(t *testing.T) *fakeAPIServer {
	t.Helper()
	s := &fakeAPIServer{}
	mux := http.NewServeMux()
	serve := func(path string, object any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, object) })
	}
	const disks = "diskio.x-k8s.io/v1alpha1"
	verbs := metav1.Verbs{"list", "watch"}
	serve("/version", map[string]string{"gitVersion": "v1.37.1"})
	serve("/api", metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	version := metav1.GroupVersionForDiscovery{GroupVersion: disks, Version: "v1alpha1"}
	serve("/apis", metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups: []metav1.APIGroup{{
			Name: "diskio.x-k8s.io", Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		}},
	})
	serve("/api/v1", &metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
		APIResources: []metav1.APIResource{
			{Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
			{Name: "nodes", SingularName: "node", Kind: "Node", Verbs: verbs},
			{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true, Verbs: verbs},
		},
	})
	serve("/apis/"+disks, &metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: disks,
		APIResources: []metav1.APIResource{
			{Name: "nodediskdevices", SingularName: "nodediskdevice", Kind: "NodeDiskDevice", Namespaced: true, Verbs: verbs},
			{Name: "nodediskiostats", SingularName: "nodediskiostats", Kind: "NodeDiskIOStats", Namespaced: true, Verbs: verbs},
		},
	})
	for path, kind := range map[string]metav1.TypeMeta{
		"/api/v1/pods":                        {Kind: "PodList", APIVersion: "v1"},
		"/api/v1/nodes":                       {Kind: "NodeList", APIVersion: "v1"},
		"/apis/" + disks + "/nodediskdevices": {Kind: "NodeDiskDeviceList", APIVersion: disks},
		"/apis/" + disks + "/nodediskiostats": {Kind: "NodeDiskIOStatsList", APIVersion: disks},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { listOrWatch(w, r, kind) })
	}
	// The list of what agents measure is part of the installation.
	const targets = "/api/v1/namespaces/vicinity-system/configmaps/vicinity-rtt-targets"
	configMap := map[string]any{
		"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]string{"namespace": "vicinity-system", "name": "vicinity-rtt-targets"},
	}
	for _, verb := range []string{"GET ", "PATCH "} {
		mux.HandleFunc(verb+targets, func(w http.ResponseWriter, _ *http.Request) { answer(w, configMap) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		http.NotFound(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// unexpected returns what the server was asked for and does not know.
func (s *fakeAPIServer) unexpected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// listOrWatch answers with an empty list, or with a watch in which nothing happens. It refuses to list by watching, as
// older API servers do.
func listOrWatch(w http.ResponseWriter, r *http.Request, kind metav1.TypeMeta) {
	query := r.URL.Query()
	switch {
	case query.Get("watch") == "":
		answer(w, map[string]any{
			"kind": kind.Kind, "apiVersion": kind.APIVersion, "metadata": map[string]string{"resourceVersion": "1"}, "items": []any{},
		})
	case query.Get("sendInitialEvents") != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		})
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		<-r.Context().Done()
	}
}

func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}
