package rtt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
)

// fakeStore is an API server of which a test says what it does.
type fakeStore struct {
	memoryStore

	inherited *vicinityv1alpha1.NodeRTTStatus
	readErr   error
	written   []vicinityv1alpha1.NodeRTTStatus
}

func (s *fakeStore) Read(context.Context) (*vicinityv1alpha1.NodeRTTStatus, error) {
	return s.inherited, s.readErr
}

func (s *fakeStore) Write(_ context.Context, status vicinityv1alpha1.NodeRTTStatus) error {
	s.written = append(s.written, status)
	return nil
}

// localCollector is the collector of a node self on this machine, with UDP on a port that is free.
func localCollector(t *testing.T, store statusStore, change func(*configv1.RTTConfiguration)) *Collector {
	t.Helper()
	port, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf(":%d", port.LocalAddr().(*net.UDPAddr).Port) //nolint:forcetypeassert // of a UDP socket
	_ = port.Close()
	whole := configv1.AgentConfiguration{Collectors: []configv1.CollectorSchedule{{Name: Name}}, RTT: configv1.RTTConfiguration{
		Method: configv1.ProbeUDP, EchoAddress: address, TargetsFile: filepath.Join(t.TempDir(), "targets.json"),
	}}
	configv1.SetDefaults_AgentConfiguration(&whole)
	if change != nil {
		change(&whole.RTT)
	}
	c, err := newCollector("self", &whole.RTT, store, prometheus.NewRegistry(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// list writes a list of so many other nodes, n1 at 127.0.0.1 and so on.
func list(t *testing.T, c *Collector, n int, change func(*targets.List)) {
	t.Helper()
	l := &targets.List{Version: targets.Version, Token: testTokenText}
	for i := range n {
		l.Nodes = append(l.Nodes, targets.Node{
			Name: fmt.Sprintf("n%d", i+1), Addresses: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, byte((i + 1) / 256), byte((i + 1) % 256)})},
		})
	}
	if change != nil {
		change(l)
	}
	document, err := l.Encode()
	if err == nil {
		err = os.WriteFile(c.config.TargetsFile, document, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const testTokenText = "0f0e0d0c0b0a09080706050403020100"

// collect runs a round of a second.
func collect(t *testing.T, c *Collector, now time.Time) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return c.Collect(ctx, now)
}

func names(paths map[string]*path) []string {
	var all []string
	for name := range paths {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func TestWithoutAListNothingIsMeasured(t *testing.T) {
	store := &fakeStore{}
	c := localCollector(t, store, nil)
	err := collect(t, c, time.Now())
	if err == nil || !strings.Contains(err.Error(), "vicinity-controller keeps in the ConfigMap") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want an error that says where the list comes from", err)
	}
	if len(store.written) > 0 {
		t.Errorf("reported %+v", store.written)
	}
	// One that is broken later leaves the last good one in place.
	list(t, c, 2, nil)
	if err := collect(t, c, time.Now()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(c.config.TargetsFile, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := collect(t, c, time.Now()); err == nil || len(c.nodes) != 2 {
		t.Errorf("%v, %v; want an error and both nodes", err, names(c.nodes))
	}
}

func TestARoundIsReported(t *testing.T) {
	store := &fakeStore{inherited: &vicinityv1alpha1.NodeRTTStatus{
		Peers: []vicinityv1alpha1.PeerRTT{
			{Node: "gone", Source: vicinityv1alpha1.RTTSourceAgent, RTT: vicinityv1alpha1.RTT{
				ObservedAt: metav1.NewTime(time.Now().Add(-time.Minute)), Samples: 5, P50Microseconds: 7000,
			}},
			{Node: "n2", Source: vicinityv1alpha1.RTTSourceGoldpinger, RTT: vicinityv1alpha1.RTT{Samples: 1, P50Microseconds: 9000}},
		},
		Coordinate: networkCoordinate(somewhere()),
	}}
	c := localCollector(t, store, nil)
	list(t, c, 3, func(l *targets.List) { l.Nodes[2].Reference = true })
	now := time.Now()
	if err := collect(t, c, now); err != nil {
		t.Fatal(err)
	}
	if len(store.written) != 1 {
		t.Fatalf("%d reports, want one", len(store.written))
	}
	status := store.written[0]
	for i, name := range []string{"n1", "n2", "n3"} {
		if p := status.Peers[i]; p.Node != name || p.Source != vicinityv1alpha1.RTTSourceAgent || p.Samples != 5 || p.P50Microseconds < 1 {
			t.Errorf("%+v, want 5 probes to %s", p, name)
		}
	}
	// The coordinate began where the last one was, and moved.
	if got := coordinateOf(&status.Coordinate); !plausible(&got) || got.Vector[7] < ms {
		t.Errorf("coordinate %+v, want one that goes on from %+v", got, somewhere())
	}
	// 15 s must pass before the next report, and there must be a reason.
	if err := collect(t, c, now.Add(5*time.Second)); err != nil || len(store.written) != 1 {
		t.Errorf("%v, %d reports, want one", err, len(store.written))
	}
	if err := collect(t, c, now.Add(61*time.Second)); err != nil || len(store.written) != 2 {
		t.Errorf("%v, %d reports, want a heartbeat", err, len(store.written))
	}
	if sent := testutil.ToFloat64(c.metrics.sent[methodUDP]); sent != 45 {
		t.Errorf("%v probes sent, want 3 rounds of 3 x 5", sent)
	}
}

func TestAnAPIServerThatIsAwayIsAskedRarely(t *testing.T) {
	store := &fakeStore{readErr: errors.New("away")}
	c := localCollector(t, store, nil)
	list(t, c, 1, nil)
	now := time.Now()
	for i := range 3 {
		if err := collect(t, c, now.Add(time.Duration(i)*time.Second)); err == nil || !strings.Contains(err.Error(), "away") {
			t.Errorf("round %d: %v", i, err)
		}
	}
	if len(store.written) > 0 {
		t.Error("a report would have wiped out what is not read yet")
	}
	store.readErr = nil
	if err := collect(t, c, now.Add(20*time.Second)); err != nil || len(store.written) != 1 {
		t.Errorf("%v, %d reports, want one when it is back", err, len(store.written))
	}
}

func TestTargetsTakeTurnsWhenTheRateIsTooLow(t *testing.T) {
	// 0.75 s at 40 probes a second are 30, for 5 targets with 5 and one more each.
	c := localCollector(t, memoryStore{}, func(r *configv1.RTTConfiguration) { r.MaxProbesPerSecond = 40; r.Peers = 12 })
	list(t, c, 12, nil)
	now := time.Now()
	if err := collect(t, c, now); err != nil {
		t.Fatal(err)
	}
	probed := func() (n int) {
		for _, p := range c.nodes {
			if p.known() {
				n++
			}
		}
		return n
	}
	n := probed()
	if n < 1 || n > 5 {
		t.Errorf("%d of 12 targets were probed, want 5 at most", n)
	}
	if deferred := testutil.ToFloat64(c.metrics.deferred); deferred < 7 || deferred > 11 {
		t.Errorf("%v targets were left to the next round, want 7 or some more on a busy machine", deferred)
	}
	for i := 0; i < 20 && probed() < 12; i++ {
		if err := collect(t, c, now.Add(time.Duration(i+1)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if n := probed(); n != 12 {
		t.Errorf("%d of 12 targets were probed in the end", n)
	}
}

// 50,000 nodes with 5 probes and one more each, at 2,500 a second, take 120 s.
func TestInALargeClusterReferencesAreProbedLessOften(t *testing.T) {
	c := localCollector(t, memoryStore{}, nil)
	list(t, c, 3, func(l *targets.List) { l.Nodes[0].Reference = true; l.ClusterNodes = 50_000 })
	now := time.Now()
	rounds := map[string]int{}
	for i := range 9 { // two minutes of rounds of 15 s
		at := now.Add(time.Duration(i) * 15 * time.Second)
		if _, err := c.list.refresh(); err != nil {
			t.Fatal(err)
		}
		c.choose(at)
		for _, p := range c.due(at, 100) {
			p.probedAt = at
			rounds[p.name]++
		}
	}
	if rounds["n1"] != 2 || rounds["n2"] != 9 {
		t.Errorf("probed in %v rounds of 9, want the reference n1 in the first and the last only", rounds)
	}
}

func TestPathsThatAreProbedNoLongerFadeAway(t *testing.T) {
	c := localCollector(t, memoryStore{}, func(r *configv1.RTTConfiguration) { r.Peers = 2; r.ZonePeers = 1 })
	list(t, c, 40, nil)
	now := time.Now().Truncate(c.config.RotationPeriod.Duration)
	for i := range 3 { // three periods, each with other peers
		if err := collect(t, c, now.Add(time.Duration(i)*c.config.RotationPeriod.Duration)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.status().Peers); n < 4 || n > 6 {
		t.Errorf("after three periods of 2 peers %d are reported: %v", n, names(c.nodes))
	}
	now = now.Add(2*c.config.RotationPeriod.Duration + remembered + time.Minute)
	if err := collect(t, c, now); err != nil {
		t.Fatal(err)
	}
	if n := len(c.status().Peers); n != 2 {
		t.Errorf("half an hour later %d are reported, want 2: %v", n, names(c.nodes))
	}
	list(t, c, 1, nil)
	if err := collect(t, c, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := names(c.nodes); len(got) > 1 {
		t.Errorf("nodes that are deleted are still reported: %v", got)
	}
}

func TestWhatIsNews(t *testing.T) {
	at := place{name: "n1"}
	base := vicinityv1alpha1.RTT{Samples: 60, P50Microseconds: 10_000}
	tests := map[string]struct {
		now  vicinityv1alpha1.RTT
		want bool
	}{
		"nothing":             {now: base},
		"less than the tenth": {now: vicinityv1alpha1.RTT{P50Microseconds: 10_900}},
		"a tenth":             {now: vicinityv1alpha1.RTT{P50Microseconds: 9_000}, want: true},
		"a loss of 4 %":       {now: vicinityv1alpha1.RTT{P50Microseconds: 10_000, LossPartsPerMillion: 40_000}},
		"a loss of 5 %":       {now: vicinityv1alpha1.RTT{P50Microseconds: 10_000, LossPartsPerMillion: 50_000}, want: true},
		"a cut":               {now: vicinityv1alpha1.RTT{P50Microseconds: 10_000, LossPartsPerMillion: wholeLoss}, want: true},
	}
	for name, tt := range tests {
		r := reporter{thresholdPercent: 10, reported: map[place]vicinityv1alpha1.RTT{at: base}}
		if got := r.changed(map[place]vicinityv1alpha1.RTT{at: tt.now}); got != tt.want {
			t.Errorf("%s: news %t, want %t", name, got, tt.want)
		}
	}
	r := reporter{thresholdPercent: 10, reported: map[place]vicinityv1alpha1.RTT{at: {P50Microseconds: 200}}}
	if r.changed(map[place]vicinityv1alpha1.RTT{at: {P50Microseconds: 290}}) {
		t.Error("90 us more are news")
	}
	if !r.changed(map[place]vicinityv1alpha1.RTT{at: {P50Microseconds: 200}, {name: "n1", endpoint: true}: {}}) {
		t.Error("an endpoint called like a node is no news")
	}
	if r.changed(nil) {
		t.Error("what is not reported any more is news")
	}
}

func TestEndpoints(t *testing.T) {
	for name, want := range map[string]string{
		"db.example.com": "db.example.com 0", "db.example.com:5432": "db.example.com 5432", "10.0.0.1": "10.0.0.1 0",
		"10.0.0.1:80": "10.0.0.1 80", "fd00::1": "fd00::1 0", "[fd00::1]:80": "fd00::1 80", "db:0": "", "db:x": "", ":80": "", "db:65536": "",
	} {
		host, port, err := splitEndpoint(name)
		if got := fmt.Sprintf("%s %d", host, port); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v; want %q", name, got, err, want)
		}
	}
	for _, host := range []string{"127.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::1", "fe80::1", "255.255.255.255"} {
		if address, err := lookUp(t.Context(), host, time.Second); err == nil {
			t.Errorf("%s: %s would be probed", host, address)
		}
	}
	if address, err := lookUp(t.Context(), "192.0.2.7", time.Second); err != nil || address.String() != "192.0.2.7" {
		t.Errorf("%s, %v; want 192.0.2.7", address, err)
	}
}

func TestAConnectionThatIsMadeOrRefusedIsARoundTrip(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // of a TCP socket
	b := burst{count: 3, spacing: time.Millisecond, timeout: 5 * time.Second}
	for _, what := range []string{"made", "refused"} {
		o, err := (&tcpMethod{port: port}).probe(t.Context(), netip.MustParseAddr("127.0.0.1"), b)
		if err != nil || o.sent != 3 || len(o.answered) != 3 {
			t.Errorf("%s: %+v, %v; want 3 answers", what, o, err)
		}
		_ = listener.Close()
	}
}
