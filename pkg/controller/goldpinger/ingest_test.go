package goldpinger

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// asking returns an ingester that asks the URL, whose pairs go nowhere.
func asking(t *testing.T, mode Mode, url string) *ingester {
	t.Helper()
	made, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return &ingester{
		options: &Options{Mode: mode, URL: url}, metrics: made, now: func() time.Time { return pingTime(0) },
		http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, table: table{nodes: map[string]*nodeRow{}},
	}
}

func TestEachFaultOfAServerIsCounted(t *testing.T) {
	const good = `{"responses":{"n1":{"OK":true,"response":{"podResults":{"n2":{"OK":true,"response-time-ms":5}}}}}}`
	var passive atomic.Int32
	tests := []struct {
		name   string
		serve  http.HandlerFunc
		reason error
		pings  int
	}{
		{name: "a good answer", serve: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, good) }, pings: 1},
		{
			name: "a passive pod is passed over for another",
			serve: func(w http.ResponseWriter, _ *http.Request) {
				if passive.Add(1) < retries {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				fmt.Fprint(w, good)
			},
			pings: 1,
		},
		{
			name:   "only passive pods",
			serve:  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			reason: errPassive,
		},
		{name: "another page", serve: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, reason: errMalformed},
		{name: "an error", serve: http.NotFound, reason: errStatus},
		{
			name: "a way elsewhere is not followed",
			serve: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
			},
			reason: errStatus,
		},
		{
			name: "50 MB",
			serve: func(w http.ResponseWriter, _ *http.Request) {
				piece := strings.Repeat(" ", 1<<20)
				for range 50 {
					if _, err := fmt.Fprint(w, piece); err != nil {
						return
					}
				}
			},
			reason: errTooLarge,
		},
		{name: "a hang", serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, reason: errUnreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.serve)
			defer server.Close()
			g := asking(t, CheckAll, server.URL)
			g.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			ctx := t.Context()
			if tt.name == "a hang" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*ms)
				defer cancel()
			}
			pings, source, faults := g.ask(ctx, nil)
			if len(pings) != tt.pings || source != vicinityv1alpha1.RTTSourceGoldpinger {
				t.Errorf("%d pings of source %s, want %d", len(pings), source, tt.pings)
			}
			err := g.count(faults)
			if tt.reason == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if counted := testutil.ToFloat64(g.metrics.errors[tt.reason]); counted != 1 {
				t.Errorf("%v was counted %v times, want once: %v", tt.reason, counted, err)
			}
		})
	}
}

// Three pods: one active, one passive, one without an address. All are on this machine and told apart by address.
func TestCheckAsksEveryPodForItself(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/check":
			http.NotFound(w, r)
		case strings.HasPrefix(r.Host, "127.0.0.2"):
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, `{"podResults":{"gp-2":{"OK":true,"HostIP":"10.0.0.2","response-time-ms":7}}}`)
		}
	}))
	everywhere, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = server.Listener.Close()
	server.Listener = everywhere
	server.Start()
	defer server.Close()
	g := asking(t, Check, "")
	g.options.Port = int32(everywhere.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // of a TCP socket
	pod := func(name, node, ip string) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{PodIP: ip, HostIP: "10.0.0.1"},
		}
	}
	pods := []corev1.Pod{pod("gp-1", "n1", "127.0.0.1"), pod("gp-3", "n3", "127.0.0.2"), pod("waits", "n3", "")}
	pings, _, faults := g.ask(t.Context(), pods)
	if err := g.count(faults); err != nil || len(pings) != 1 || pings[0].from.key != "n1" || pings[0].rtt != 7*ms {
		t.Errorf("%+v, %v; want the ping of the pod that is active and has an address", pings, err)
	}
}

func TestATablesEntriesOutliveAnOutage(t *testing.T) {
	now := pingTime(0)
	tab := table{nodes: map[string]*nodeRow{}}
	all := func(string) bool { return true }
	at := func(second int, rtt time.Duration, answered bool) *ping {
		return &ping{at: pingTime(second), rtt: rtt, answered: answered}
	}
	row := tab.row("n1")
	if !tab.take("n1", "n2", at(0, 5*ms, true), "Goldpinger", now) || tab.take("n1", "n2", at(0, 9*ms, true), "Goldpinger", now) {
		t.Error("a ping was not taken, or taken twice")
	}
	if tab.take("n1", "n2", &ping{at: now.Add(-2 * time.Hour), answered: true}, "Goldpinger", now) {
		t.Error("a ping of two hours ago was taken")
	}
	list := row.entries(now, all)
	if !row.due(list, now) {
		t.Error("a first entry is not due")
	}
	row.attemptedAt = now
	row.wrote(list, now)

	// Nothing is heard: nothing is written, not even at the heartbeat, and the entry keeps its time.
	now = now.Add(10 * time.Minute)
	list = row.entries(now, all)
	if row.due(list, now) || len(list) != 1 || !list[0].ObservedAt.Time.Equal(pingTime(0)) || list[0].P50Microseconds != 5000 {
		t.Errorf("after 10 minutes: due %t, %+v", row.due(list, now), list)
	}
	// Two pings fail: the path is cut, the last time stays, and that is news.
	for i := range 2 {
		tab.take("n1", "n2", &ping{at: now.Add(time.Duration(i) * time.Second)}, "Goldpinger", now.Add(time.Minute))
	}
	list = row.entries(now, all)
	if !row.due(list, now) || list[0].LossPartsPerMillion != wholeLoss || list[0].P50Microseconds != 5000 {
		t.Errorf("after two failures: %+v", list)
	}
	if list := row.entries(now, func(string) bool { return false }); len(list) != 0 {
		t.Errorf("entries about nodes that are gone: %+v", list)
	}
}

func TestWhatAnEarlierProcessWroteIsKept(t *testing.T) {
	row := (&table{nodes: map[string]*nodeRow{}}).row("n1")
	rtt := vicinityv1alpha1.RTT{ObservedAt: metav1.NewTime(pingTime(0)), Samples: 10, P50Microseconds: 5000, LossPartsPerMillion: 100_000}
	row.inherit([]vicinityv1alpha1.PeerRTT{
		{Node: "n2", Source: vicinityv1alpha1.RTTSourceGoldpinger, RTT: rtt},
		{Node: "n3", Source: vicinityv1alpha1.RTTSourceAgent, RTT: rtt},
	})
	list := row.entries(pingTime(30), func(string) bool { return true })
	if len(list) != 1 || list[0].Node != "n2" || list[0].RTT != rtt {
		t.Errorf("%+v, want the entry of n2 as it was", list)
	}
}

func TestOptions(t *testing.T) {
	good := Defaults()
	good.Mode, good.URL = CheckAll, "http://goldpinger:8081"
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	bad := Options{Mode: "All", URL: "goldpinger", PodSelector: "a in", Port: 0, Interval: time.Second}
	for _, want := range []string{"--goldpinger-mode", "--goldpinger-selector", "--goldpinger-port", "--goldpinger-interval"} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	bad.Mode = CheckAll
	if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "--goldpinger-url: expected such as") {
		t.Errorf("%v does not name --goldpinger-url", err)
	}
}
