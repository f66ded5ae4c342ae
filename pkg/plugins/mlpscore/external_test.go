package mlpscore

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

func TestExternalScorer(t *testing.T) {
	nodes := []fwk.NodeInfo{node("a", "4", 0), node("b", "4", 0), node("c", "4", 0)}
	cases := []struct {
		name    string
		handler http.HandlerFunc
		// want are the scores before they are normalised; nil when the fallback decides.
		want map[string]int64
	}{
		{"scores beyond the range are cut, missing ones are 0", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"scores":{"a":-5,"b":1e9,"x":50}}`)
		}, map[string]int64{"a": 0, "b": 100, "c": 0}},
		{"a failure's page", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>Internal Server Error</html>", http.StatusInternalServerError)
		}, nil},
		{"HTML with status 200", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html></html>") }, nil},
		{"an answer that comes too late", func(_ http.ResponseWriter, r *http.Request) {
			// A server notices that its client has gone only when it has read the question.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			f := external(t, server.URL)
			state := framework.NewCycleState()
			f.PreScore(t.Context(), state, pod("1"), nodes)
			fallbacks := testutil.ToFloat64(f.metrics.fallbacks.WithLabelValues(causeServer))
			if (fallbacks == 1) != (c.want == nil) {
				t.Fatalf("fallbacks: %v", fallbacks)
			}
			for name, want := range c.want {
				if got := f.score(readState(t, state), node(name, "4", 0)); got != want {
					t.Errorf("node %s: want %d, got %d", name, want, got)
				}
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		f := external(t, "http://127.0.0.1:1/score")
		got := f.scores(t, pod("1"), nodes)
		if len(winners(got)) != 1 {
			t.Errorf("want the pod placed by the fallback, got %v", got)
		}
	})
}

func external(t *testing.T, url string) fixture {
	t.Helper()
	args := active()
	args.External = &configv1.MLPScoreExternal{URL: url, Timeout: metav1.Duration{Duration: 200 * time.Millisecond}}
	return newFixture(t, args, clock.RealClock{})
}
