package tracesink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// Live keeps the latest records in memory and serves them over a unix socket that only its owner may open.
//
// GET /v1/records answers JSON lines, oldest first. The parameters namespace, pod (a name or a UID) and limit (the latest
// so many) select.
type Live struct {
	server *http.Server
	socket string

	mu      sync.Mutex
	records []*trace.Record // a ring; next is the oldest once it is full
	next    int
}

// NewLive listens on the socket. One that a process left behind that is gone is replaced.
func NewLive(ctx context.Context, args *configv1.SnifferLiveSink) (*Live, error) {
	if info, err := os.Lstat(args.Socket); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(args.Socket); err != nil {
			return nil, fmt.Errorf("socket for live records: %w", err)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", args.Socket)
	if err != nil {
		return nil, fmt.Errorf("socket for live records: %w", err)
	}
	if err := os.Chmod(args.Socket, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("socket for live records: %w", err), listener.Close())
	}
	l := &Live{socket: args.Socket, records: make([]*trace.Record, 0, args.Records)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/records", l.serve)
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute}
	go func() {
		if err := l.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.FromContext(ctx).Error(err, "Live records are no longer served", "socket", args.Socket)
		}
	}()
	return l, nil
}

// Write keeps the record in the place of the oldest.
func (l *Live) Write(record *trace.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) < cap(l.records) {
		l.records = append(l.records, record)
		return
	}
	l.records[l.next] = record
	l.next = (l.next + 1) % len(l.records)
}

// selected returns the latest records that a request asks for, oldest first.
func (l *Live) selected(namespace, pod string, limit int) []*trace.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*trace.Record
	for i := range l.records {
		r := l.records[(l.next+i)%len(l.records)]
		if (namespace == "" || r.Pod.Namespace == namespace) && (pod == "" || r.Pod.Name == pod || r.Pod.UID == pod) {
			out = append(out, r)
		}
	}
	return out[max(0, len(out)-limit):]
}

func (l *Live) serve(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	limit := cap(l.records)
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			http.Error(w, fmt.Sprintf("limit is %q, want a number of 1 or more", text), http.StatusBadRequest)
			return
		}
		limit = n
	}
	w.Header().Set("Content-Type", "application/jsonl")
	lines := json.NewEncoder(w)
	for _, record := range l.selected(query.Get("namespace"), query.Get("pod"), limit) {
		if lines.Encode(record) != nil {
			return // the client has gone
		}
	}
}

// Close ends the server and removes the socket.
func (l *Live) Close(ctx context.Context) error {
	if err := l.server.Shutdown(ctx); err != nil {
		return fmt.Errorf("socket for live records %s: %w", l.socket, errors.Join(err, l.server.Close()))
	}
	return nil
}
