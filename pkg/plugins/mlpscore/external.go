package mlpscore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// maxAnswer bounds a server's answer: a hundred bytes for each of a hundred thousand nodes.
const maxAnswer = 10 << 20

// server is an external scorer with the predecessor's contract.
type server struct {
	url    string
	client *http.Client
}

func newServer(args *configv1.MLPScoreExternal) *server {
	// A connection for each pod is what the contract costs anyway; one kept open would have goroutines of its own.
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	return &server{url: args.URL, client: &http.Client{Transport: transport, Timeout: args.Timeout.Duration}}
}

type question struct {
	Pod   *corev1.Pod    `json:"pod"`
	Nodes []*corev1.Node `json:"nodes"`
}

type answer struct {
	Scores map[string]float64 `json:"scores"`
}

// ask returns the server's scores, limited to 0 to 100; nodes that it does not name are not in the map and score 0.
func (s *server) ask(ctx context.Context, pod *corev1.Pod, nodes []fwk.NodeInfo) (map[string]int64, error) {
	q := question{Pod: pod}
	for _, info := range nodes {
		q.Nodes = append(q.Nodes, info.Node())
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("question for %s: %w", s.url, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", s.url, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err // names the URL already
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking %s: want status 200, found %s", s.url, response.Status)
	}
	var a answer
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&a); err != nil {
		return nil, fmt.Errorf("answer of %s: want {\"scores\": {\"node\": 37}} in at most %d bytes: %w", s.url, maxAnswer, err)
	}
	scores := make(map[string]int64, len(a.Scores))
	for node, score := range a.Scores {
		scores[node] = int64(min(max(math.Trunc(score), 0), 100))
	}
	return scores, nil
}
