package datasets

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// answer is what the server says to one kind of request.
type answer struct {
	code   int
	reason metav1.StatusReason // of a failure
	object any                 // of a success
}

const (
	getNode     = "GET /api/v1/nodes/n1"
	getCache    = "GET /apis/vicinity.dev/v1alpha1/nodedatasetcaches/n1"
	applyCache  = "PATCH /apis/vicinity.dev/v1alpha1/nodedatasetcaches/n1"
	applyStatus = "PATCH /apis/vicinity.dev/v1alpha1/nodedatasetcaches/n1/status"
)

// serve starts a server with canned answers and returns a store that uses it, and the requests it got.
func serve(t *testing.T, answers map[string]answer) (store *objectStore, requests *[]string) {
	t.Helper()
	requests = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := r.Method + " " + r.URL.Path
		*requests = append(*requests, request)
		reply, ok := answers[request]
		if !ok {
			http.NotFound(w, r) // as the API server answers for kinds that it does not know
			return
		}
		body := reply.object
		if reply.code != http.StatusOK {
			body = metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status:   metav1.StatusFailure, Reason: reply.reason, Code: int32(reply.code), Message: "the server's reason",
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.code)
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	store, err := newObjectStore(&rest.Config{Host: server.URL}, "n1")
	must(t, err)
	t.Cleanup(store.Close)
	return store, requests
}

func failure(code int, reason metav1.StatusReason) answer { return answer{code: code, reason: reason} }

func node() answer {
	return answer{code: http.StatusOK, object: metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}, ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "u1"},
	}}
}

func cache(status vicinityv1alpha1.NodeDatasetCacheStatus) answer {
	return answer{code: http.StatusOK, object: vicinityv1alpha1.NodeDatasetCache{
		TypeMeta:   metav1.TypeMeta{APIVersion: "vicinity.dev/v1alpha1", Kind: "NodeDatasetCache"},
		ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: status,
	}}
}

func TestStoreTellsWhatToDo(t *testing.T) {
	written := cache(vicinityv1alpha1.NodeDatasetCacheStatus{})
	tests := []struct {
		name    string
		answers map[string]answer
		want    []string
	}{
		{
			name:    "the node does not exist",
			answers: map[string]answer{getNode: failure(404, metav1.StatusReasonNotFound)},
			want:    []string{`there is no Node "n1" to own the report`, `--node-name must be the name of this machine's Node`, "the server's reason"},
		},
		{
			name:    "the node may not be read",
			answers: map[string]answer{getNode: failure(403, metav1.StatusReasonForbidden)},
			want:    []string{`cannot read Node "n1", which is to own the report`, "the server's reason"},
		},
		{
			name:    "the kind is not installed",
			answers: map[string]answer{getNode: node()},
			want:    []string{"the API server does not know the kind NodeDatasetCache: apply the CRD nodedatasetcaches.vicinity.dev"},
		},
		{
			name:    "the object may not be written",
			answers: map[string]answer{getNode: node(), applyCache: failure(403, metav1.StatusReasonForbidden)},
			want: []string{
				`may not write NodeDatasetCache "n1"; the agent needs ClusterRole vicinity-agent and a token that is bound to node "n1"`,
				"the server's reason",
			},
		},
		{
			name:    "the status may not be written",
			answers: map[string]answer{getNode: node(), applyCache: written, applyStatus: failure(403, metav1.StatusReasonForbidden)},
			want:    []string{`may not write the status of NodeDatasetCache "n1"`},
		},
		{
			name:    "somebody else writes it too",
			answers: map[string]answer{getNode: node(), applyCache: written, applyStatus: failure(409, metav1.StatusReasonConflict)},
			want:    []string{`cannot write the status of NodeDatasetCache "n1", which somebody else changes at the same time`},
		},
		{
			name:    "the token is no good",
			answers: map[string]answer{getNode: node(), applyCache: failure(401, metav1.StatusReasonUnauthorized)},
			want:    []string{`cannot write NodeDatasetCache "n1": the API server does not accept the agent's token`},
		},
		{
			name:    "the server is ill",
			answers: map[string]answer{getNode: node(), applyCache: failure(500, metav1.StatusReasonInternalError)},
			want:    []string{`cannot write NodeDatasetCache "n1": `, "the server's reason"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, _ := serve(t, tt.answers)
			err := store.Write(t.Context(), vicinityv1alpha1.NodeDatasetCacheStatus{})
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Write() = %v, want it to say %q", err, want)
				}
			}
		})
	}
}

func TestStoreWritesTheObjectOnceAndItsStatusEachTime(t *testing.T) {
	answers := map[string]answer{
		getNode: node(), applyCache: cache(vicinityv1alpha1.NodeDatasetCacheStatus{}),
		applyStatus: cache(vicinityv1alpha1.NodeDatasetCacheStatus{}),
	}
	store, requests := serve(t, answers)
	for range 3 {
		must(t, store.Write(t.Context(), vicinityv1alpha1.NodeDatasetCacheStatus{}))
	}
	if diff := cmp.Diff([]string{getNode, applyCache, applyStatus, applyStatus, applyStatus}, *requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	// The object was deleted, and what then fails is tried from the beginning in the next round.
	*requests = nil
	answers[applyStatus] = failure(404, metav1.StatusReasonNotFound)
	for range 2 {
		if err := store.Write(t.Context(), vicinityv1alpha1.NodeDatasetCacheStatus{}); err == nil {
			t.Error("no error, though the object vanishes each time")
		}
	}
	want := []string{applyStatus, getNode, applyCache, applyStatus, applyStatus, getNode, applyCache, applyStatus}
	if diff := cmp.Diff(want, *requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestStoreReads(t *testing.T) {
	status := vicinityv1alpha1.NodeDatasetCacheStatus{
		ObservedAt: metav1.NewTime(start().Local().Truncate(time.Second)),
		Datasets: []vicinityv1alpha1.CachedDataset{{
			Namespace: "team", Name: "ds1", Medium: "SSD", ObservedAt: metav1.NewTime(start().Local()), CachedBytes: 7,
		}},
	}
	store, _ := serve(t, map[string]answer{getCache: cache(status)})
	got, err := store.Read(t.Context())
	must(t, err)
	if diff := cmp.Diff(&status, got); diff != "" {
		t.Errorf("Read() (-want +got):\n%s", diff)
	}

	for name, answers := range map[string]map[string]answer{
		"no object": {getCache: failure(404, metav1.StatusReasonNotFound)}, "no such kind": {},
	} {
		store, _ := serve(t, answers)
		if got, err := store.Read(t.Context()); got != nil || err != nil {
			t.Errorf("%s: Read() = %v, %v, want nothing and no error", name, got, err)
		}
	}

	store, _ = serve(t, map[string]answer{getCache: failure(403, metav1.StatusReasonForbidden)})
	if _, err := store.Read(t.Context()); err == nil || !strings.Contains(err.Error(), `may not read NodeDatasetCache "n1"`) {
		t.Errorf("Read() = %v, want an error that says what is forbidden", err)
	}
}
