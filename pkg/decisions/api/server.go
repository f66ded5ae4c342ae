package api

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

// answerTimeout bounds how long the database may take for an answer.
const answerTimeout = 15 * time.Second

// Store is what is asked.
type Store interface {
	List(ctx context.Context, f store.Filter) ([]store.Row, error)
	Decision(ctx context.Context, id int64) (store.Row, error)
	History(ctx context.Context, namespace, name, uid string, limit int) ([]store.Row, error)
	Pods(ctx context.Context, namespace, name string, limit int) ([]store.Pod, error)
	PodByUID(ctx context.Context, uid string) (store.Pod, error)
	Pending(ctx context.Context, namespaces []string, sample, limit int) ([]store.PendingGroup, error)
	Stays(ctx context.Context, since, until time.Time, namespaces []string, node string, limit int) ([]store.Pod, error)
	Nodes(ctx context.Context, since, until time.Time) ([]store.Node, error)
	Namespaces(ctx context.Context) ([]string, error)
	Rates(ctx context.Context, since, until time.Time, step time.Duration, namespaces []string) ([]store.Rate, error)
	Events(ctx context.Context, f store.EventFilter) ([]store.Event, error)
	Sessions(ctx context.Context, limit int) ([]store.Session, error)
}

// Options is what the API runs with.
type Options struct {
	Store  Store
	Access *Access
	// Cluster reads delays and disks; nil where they are not to be had.
	Cluster Cluster
	Clock   clock.PassiveClock
}

type server struct {
	Options

	document []byte
}

//go:embed openapi.yaml
var openapi []byte

// Register adds the API to mux, below /api/v1/.
func Register(mux *http.ServeMux, o Options) error {
	document, err := yaml.YAMLToJSON(openapi)
	if err != nil {
		return err
	}
	s := &server{Options: o, document: document}
	mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.document) // the reader is gone: nothing to do
	})
	for pattern, answer := range s.routes() {
		mux.HandleFunc("GET /api/v1/"+pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, answer) })
	}
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusNotFound, Problem{"there is nothing at " + r.URL.Path + ": see /api/v1/openapi.json"})
	})
	return nil
}

// answerer answers one kind of question.
type answerer func(ctx context.Context, c *caller, r *http.Request) (any, error)

func (s *server) routes() map[string]answerer {
	return map[string]answerer{
		"decisions":               s.decisions,
		"decisions/{id}":          s.decision,
		"events":                  s.events,
		"namespaces":              s.namespaces,
		"nodes":                   s.nodes,
		"occupancy":               s.occupancy,
		"pending":                 s.pending,
		"pods/{namespace}/{name}": s.pod,
		"rates":                   s.rates,
		"sessions":                s.sessions,
		"stays":                   s.stays,
		"delays":                  s.delays,
		"disks":                   s.disks,
	}
}

// serve finds out who asks, and writes the answer or what is wrong with the question.
func (s *server) serve(w http.ResponseWriter, r *http.Request, answer answerer) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	who, err := s.Access.caller(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	var body any
	if err == nil {
		body, err = answer(ctx, who, r)
	}
	if err == nil {
		write(w, http.StatusOK, body)
		return
	}
	p, known := asProblem(err)
	switch {
	case known:
	case errors.Is(err, store.ErrNotFound):
		p = &problem{http.StatusNotFound, "there is no such thing, or it was removed because of its age"}
	case errors.Is(err, context.DeadlineExceeded):
		p = &problem{http.StatusServiceUnavailable, "the database took too long: ask for less"}
	default:
		klog.FromContext(ctx).Error(err, "A question could not be answered", "path", r.URL.Path)
		p = &problem{http.StatusInternalServerError, "the question could not be answered; the log of vicinity-sniffer says why"}
	}
	write(w, p.status, Problem{p.text})
}

// write sends JSON. Names come from strangers: browsers are told to take it for nothing else.
func write(w http.ResponseWriter, status int, body any) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	encoded, err := json.Marshal(body)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte(`{"error":"the answer could not be encoded"}`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // the reader is gone: nothing to do
}
