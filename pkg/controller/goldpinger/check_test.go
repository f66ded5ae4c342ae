package goldpinger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const ms = time.Millisecond

// pingTime is that of the example in Goldpinger's documentation.
func pingTime(second int) time.Time { return time.Date(2030, 1, 1, 10, 0, second, 0, time.UTC) }

func TestParseCheckAll(t *testing.T) {
	a, b := peer{key: "gp-a", hostIP: "10.0.0.1"}, peer{key: "gp-b", hostIP: "10.0.0.2"}
	tests := []struct {
		name, body string
		want       []ping
		faults     []string
	}{
		{
			name: "an absent time is below a millisecond, that of a failure is none",
			body: `{"hosts":[{"podName":"gp-a","hostIP":"10.0.0.1","podIP":"10.244.1.5"}],"responses":{"gp-a":{"OK":true,
				"HostIP":"10.0.0.1","PodIP":"10.244.1.5","response":{"podResults":{
				"gp-a":{"OK":true,"HostIP":"10.0.0.1","PingTime":"2030-01-01T10:00:00.000Z","status-code":200},
				"gp-b":{"OK":true,"HostIP":"10.0.0.2","PingTime":"2030-01-01T10:00:03.000Z","response-time-ms":12,"status-code":200},
				"gp-c":{"OK":false,"HostIP":"10.0.0.3","error":"context deadline exceeded","response-time-ms":300,"status-code":504}}}}}}`,
			want: []ping{
				{from: a, to: a, at: pingTime(0), rtt: belowMillisecond, answered: true},
				{from: a, to: b, at: pingTime(3), rtt: 12 * ms, answered: true},
				{from: a, to: peer{key: "gp-c", hostIP: "10.0.0.3"}},
			},
		},
		{
			name: "the host's address may stand in the list of hosts only",
			body: `{"hosts":[{"podName":"gp-a","hostIP":"10.0.0.1"}],"responses":{"gp-a":{"OK":true,"response":{"podResults":{
				"gp-b":{"OK":true,"HostIP":"10.0.0.2","response-time-ms":0}}}}}}`,
			want: []ping{{from: a, to: b, rtt: belowMillisecond, answered: true}},
		},
		{
			name: "a pod that did not answer, one without results, one whose results are null",
			body: `{"responses":{"gp-a":{"OK":false,"error":"timeout"},"gp-b":{"OK":true,"response":{}},"gp-c":{"OK":true,"response":{"podResults":null}}}}`,
		},
		{
			name: "a pod that lies spoils its own results only",
			body: `{"responses":{"gp-a":{"OK":true,"HostIP":"10.0.0.1","response":{"podResults":{
				"gp-b":{"OK":true,"HostIP":"10.0.0.2","response-time-ms":5},"gp-c":{"OK":true,"response-time-ms":-1},
				"gp-d":{"OK":true,"response-time-ms":1e12},"gp-e":{"OK":"yes"},"gp-f":7}}},
				"gp-b":[],"gp-c":{"OK":true,"response":"soon"}}}`,
			want: []ping{{from: a, to: b, rtt: 5 * ms, answered: true}},
			faults: []string{
				`podResults["gp-c"]: an impossible time: response-time-ms -1`, `podResults["gp-d"]: an impossible time`,
				`podResults["gp-e"]: json`, `podResults["gp-f"]: json`, `responses["gp-b"]: json`, `responses["gp-c"]: /check: json`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pings, faults, err := parseCheckAll([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, pings, cmp.AllowUnexported(ping{}, peer{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(faults) != len(tt.faults) {
				t.Fatalf("faults %v, want %v", faults, tt.faults)
			}
			for i, fault := range faults {
				if !strings.HasPrefix(fault.Error(), tt.faults[i]) {
					t.Errorf("fault %v, want %s", fault, tt.faults[i])
				}
			}
		})
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for _, body := range []string{"", "null", "[]", `{"responses":7}`, `{"hosts":[]}`, "<html>", strings.Repeat("[", 100_000)} {
		if pings, _, err := parseCheckAll([]byte(body)); err == nil {
			t.Errorf("%.20q was read as %v", body, pings)
		}
	}
}

func TestNodesAreFoundByNameAddressAndPod(t *testing.T) {
	at := func(name string, addresses ...string) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, a := range addresses {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
		}
		return n
	}
	gone := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "gp-old"}, Spec: corev1.PodSpec{NodeName: "gone"}}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "gp-2"}, Spec: corev1.PodSpec{NodeName: "n2"}}
	d := newDirectory([]corev1.Node{at("n1", "10.0.0.1", "fd00::1"), at("n2")}, []corev1.Pod{pod, gone})
	for name, tt := range map[string]struct {
		peer peer
		want string
	}{
		"by the node's name":               {peer{key: "n2"}, "n2"},
		"by its address":                   {peer{key: "gp-1", hostIP: "10.0.0.1"}, "n1"},
		"by IPv6 in another spelling":      {peer{key: "gp-1", hostIP: "FD00:0::0001"}, "n1"},
		"by IPv4 within IPv6":              {peer{key: "gp-1", hostIP: "::ffff:10.0.0.1"}, "n1"},
		"by the pod":                       {peer{key: "gp-2", hostIP: "nonsense"}, "n2"},
		"not at all":                       {peer{key: "gp-9", hostIP: "10.9.9.9"}, ""},
		"not a pod of a node that is gone": {peer{key: "gp-old"}, ""},
	} {
		if got, ok := d.find(tt.peer); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %q, %t; want %q", name, got, ok, tt.want)
		}
	}
}

func TestHistogramsTellTheMeanSinceTheLastLook(t *testing.T) {
	const http = `# TYPE goldpinger_peers_response_time_s histogram
goldpinger_peers_response_time_s_bucket{goldpinger_instance="n1",call_type="ping",host_ip="10.0.0.2",pod_ip="10.1.0.2",le="+Inf"} 10
goldpinger_peers_response_time_s_sum{goldpinger_instance="n1",call_type="ping",host_ip="10.0.0.2",pod_ip="10.1.0.2"} 0.004
goldpinger_peers_response_time_s_count{goldpinger_instance="n1",call_type="ping",host_ip="10.0.0.2",pod_ip="10.1.0.2"} 10
goldpinger_peers_response_time_s_sum{goldpinger_instance="n1",call_type="check",host_ip="10.0.0.2",pod_ip="10.1.0.2"} 9
goldpinger_peers_response_time_s_count{goldpinger_instance="n1",call_type="check",host_ip="10.0.0.2",pod_ip="10.1.0.2"} 10
`
	const udp = `# TYPE goldpinger_peers_udp_rtt_s histogram
goldpinger_peers_udp_rtt_s_sum{goldpinger_instance="n1",host_ip="10.0.0.2",pod_ip="10.1.0.2"} 0.003
goldpinger_peers_udp_rtt_s_count{goldpinger_instance="n1",host_ip="10.0.0.2",pod_ip="10.1.0.2"} 20
`
	found, err := parseHistograms([]byte(http))
	if err != nil {
		t.Fatal(err)
	}
	key := series{metric: httpHistogram, instance: "n1", hostIP: "10.0.0.2", podIP: "10.1.0.2"}
	if diff := cmp.Diff(map[series]total{key: {count: 10, sum: 0.004}}, found, cmp.AllowUnexported(series{}, total{})); diff != "" {
		t.Errorf("pings only (-want +got):\n%s", diff)
	}
	found, err = parseHistograms([]byte(http + udp))
	key.metric = udpHistogram
	if diff := cmp.Diff(map[series]total{key: {count: 20, sum: 0.003}}, found, cmp.AllowUnexported(series{}, total{})); err != nil || diff != "" {
		t.Errorf("the UDP echo where there is one (-want +got), %v:\n%s", err, diff)
	}
	if _, err := parseHistograms([]byte("goldpinger_peers_udp_rtt_s{ 7")); err == nil {
		t.Error("half a line was read")
	}

	last := total{count: 20, sum: 0.003}
	for name, tt := range map[string]struct {
		now  total
		want time.Duration
		ok   bool
	}{
		// 10 more in 2.5 ms are 250 us each.
		"ten more":           {now: total{count: 30, sum: 0.0055}, want: 250 * time.Microsecond, ok: true},
		"nothing new":        {now: last},
		"a new process":      {now: total{count: 5, sum: 0.001}},
		"less than nothing":  {now: total{count: 30, sum: 0.001}},
		"longer than can be": {now: total{count: 21, sum: 1e30}},
	} {
		if got, ok := tt.now.since(last); ok != tt.ok || (got-tt.want).Abs() > time.Microsecond {
			t.Errorf("%s: %s, %t; want %s", name, got, ok, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"hosts":[{"podName":"a","hostIP":"::1"}],"responses":{"a":{"OK":true,"response":{"podResults":{"b":{"OK":true,"response-time-ms":1}}}}}}`))
	f.Add([]byte(`{"podResults":{"b":{"OK":true,"PingTime":"2030-01-01T10:00:00Z","response-time-ms":1e308}}}`))
	f.Add([]byte("# TYPE goldpinger_peers_udp_rtt_s histogram\ngoldpinger_peers_udp_rtt_s_sum{host_ip=\"1\"} NaN\ngoldpinger_peers_udp_rtt_s_count{host_ip=\"1\"} 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, err := parseCheckAll(data)
		one, faults, checkErr := parseCheck(data, peer{key: "n1"})
		if err != nil && checkErr != nil && len(faults) > 0 && !errors.Is(faults[0], errImpossible) {
			t.Logf("faults %v", faults)
		}
		tab := table{nodes: map[string]*nodeRow{}}
		now := pingTime(0)
		for _, p := range append(all, one...) {
			if p.answered && (p.rtt <= 0 || p.rtt > time.Hour) && p.rtt != 0 {
				t.Fatalf("a ping of %s was believed", p.rtt)
			}
			tab.take("n1", "n2", &p, "Goldpinger", now)
		}
		if row := tab.nodes["n1"]; row != nil {
			for _, e := range row.entries(now, func(string) bool { return true }) {
				if e.P50Microseconds < 0 || e.P50Microseconds > 3_600_000_000 || e.Samples < 1 || e.LossPartsPerMillion > 1_000_000 {
					t.Fatalf("the API would refuse %+v", e)
				}
			}
		}
		histograms, err := parseHistograms(data)
		if err != nil {
			return
		}
		for _, h := range histograms {
			if mean, ok := h.since(total{}); ok && (mean < 0 || mean > time.Hour) {
				t.Fatalf("a mean of %s", mean)
			}
		}
	})
}
