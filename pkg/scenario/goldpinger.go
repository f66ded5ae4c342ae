package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const (
	goldpingerHeaderTimeout = 10 * time.Second
	// hugeAnswer is more than anybody should read.
	hugeAnswer = 50 << 20
)

// goldpinger answers as Goldpinger does, with what a scenario says.
type goldpinger struct {
	server *http.Server
	url    string
	done   sync.WaitGroup

	mu    sync.Mutex
	state format.Goldpinger
}

// The answer of /check_all.
type (
	goldpingerAll struct {
		Responses map[string]goldpingerResponse `json:"responses"`
	}
	goldpingerResponse struct {
		OK       bool            `json:"OK"`
		Response goldpingerCheck `json:"response"`
	}
	goldpingerCheck struct {
		PodResults map[string]goldpingerResult `json:"podResults"`
	}
	goldpingerResult struct {
		OK           bool      `json:"OK"`
		PingTime     time.Time `json:"PingTime"`
		Status       int       `json:"status-code"`
		Error        string    `json:"error,omitempty"`
		ResponseTime int64     `json:"response-time-ms,omitempty"`
	}
)

// setGoldpinger sets the answers, and starts the server first if there is none yet.
func (s *session) setGoldpinger(ctx context.Context, a *format.Goldpinger) error {
	if s.goldpinger == nil {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("serving a Goldpinger: %w", err)
		}
		g := &goldpinger{url: "http://" + listener.Addr().String()}
		g.server = &http.Server{Handler: g, ReadHeaderTimeout: goldpingerHeaderTimeout}
		g.done.Go(func() { _ = g.server.Serve(listener) }) // it ends with close
		s.goldpinger = g
	}
	s.goldpinger.mu.Lock()
	defer s.goldpinger.mu.Unlock()
	s.goldpinger.state = *a
	return nil
}

// close ends the server. It is called on nil too.
func (g *goldpinger) close() error {
	if g == nil {
		return nil
	}
	err := g.server.Close()
	g.done.Wait()
	return err
}

// ServeHTTP implements http.Handler.
func (g *goldpinger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/check_all" {
		http.NotFound(w, r)
		return
	}
	g.mu.Lock()
	state := g.state
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch state.Fault {
	case "hang":
		<-r.Context().Done()
	case "huge":
		piece := []byte(strings.Repeat(" ", 1<<20))
		for range hugeAnswer / len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	case "lies":
		_, _ = w.Write([]byte(`{"responses":{"nosuch":{"OK":true,"response":{"podResults":{"nobody":{"OK":true,"response-time-ms":-7}}}}}}`))
	default:
		_ = json.NewEncoder(w).Encode(answerOf(state.Pings, time.Now().UTC())) // the client may be gone
	}
}

// answerOf is the answer with node names as keys, as with DISPLAY_NODENAME.
func answerOf(pings map[string]map[string]*int64, now time.Time) goldpingerAll {
	all := goldpingerAll{Responses: map[string]goldpingerResponse{}}
	for from, peers := range pings {
		results := map[string]goldpingerResult{from: {OK: true, PingTime: now, Status: http.StatusOK}}
		for to, milliseconds := range peers {
			if milliseconds == nil {
				results[to] = goldpingerResult{
					PingTime: now, Status: http.StatusGatewayTimeout, Error: "context deadline exceeded", ResponseTime: 300,
				}
				continue
			}
			results[to] = goldpingerResult{OK: true, PingTime: now, Status: http.StatusOK, ResponseTime: *milliseconds}
		}
		all.Responses[from] = goldpingerResponse{OK: true, Response: goldpingerCheck{PodResults: results}}
	}
	return all
}
