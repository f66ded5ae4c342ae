//go:build linux

package rtt

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/window"
	"github.com/vicinity-scheduler/vicinity/test/netem"
)

const (
	testToken = "000102030405060708090a0b0c0d0e0f"
	// testInterval is how long the rounds are. The longest round trip is 84 ms.
	testInterval = 600 * time.Millisecond
)

// accessDelays are the one-way delays of the hosts' links, in each direction.
func accessDelays() map[string]time.Duration {
	return map[string]time.Duration{
		"h1": 0, "h2": 250 * time.Microsecond, "h3": time.Millisecond,
		"h4": 5 * time.Millisecond, "h5": 12 * time.Millisecond, "h6": 30 * time.Millisecond,
	}
}

// testbed is a network with an agent's collector on each host.
type testbed struct {
	*netem.Network

	list string // the file

	mu     sync.Mutex
	rounds map[string][]round // by host
}

// newTestbed makes six hosts with IPv4 and IPv6 addresses, whose links have the accessDelays.
func newTestbed(t *testing.T, mtu int) *testbed {
	t.Helper()
	if testing.Short() {
		t.Skip("measures times on six hosts: not with -short, nor with the race detector's slowness")
	}
	var hosts []netem.Host
	for i, name := range slices.Sorted(maps.Keys(accessDelays())) {
		hosts = append(hosts, netem.Host{Name: name, MTU: mtu, Addresses: []netip.Prefix{
			netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 66, 0, byte(i + 1)}), 24),
			netip.PrefixFrom(netip.MustParseAddr(fmt.Sprintf("fd66::%d", i+1)), 64),
		}})
	}
	network, err := netem.New(t.Context(), hosts, 7)
	if errors.Is(err, netem.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := network.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	for name, wait := range accessDelays() {
		network.Set(name, netem.Link{Delay: wait})
	}
	return &testbed{Network: network, rounds: map[string][]round{}}
}

// start runs the collectors of some hosts. Family is 4 or 6.
func (b *testbed) start(t *testing.T, family int, config configv1.RTTConfiguration, names ...string) {
	t.Helper()
	list := &targets.List{Version: targets.Version, Token: testToken}
	for i, name := range slices.Sorted(maps.Keys(accessDelays())) {
		address := netip.AddrFrom4([4]byte{10, 66, 0, byte(i + 1)})
		if family == 6 {
			address = netip.MustParseAddr(fmt.Sprintf("fd66::%d", i+1))
		}
		list.Nodes = append(list.Nodes, targets.Node{Name: name, Addresses: []netip.Addr{address}})
	}
	data, err := list.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b.list = filepath.Join(t.TempDir(), "targets.json")
	if err := os.WriteFile(b.list, data, 0o600); err != nil {
		t.Fatal(err)
	}
	config.TargetsFile = b.list
	whole := configv1.AgentConfiguration{Collectors: []configv1.CollectorSchedule{{Name: Name}}, RTT: config}
	configv1.SetDefaults_AgentConfiguration(&whole)
	for _, name := range names {
		b.run(t, hostSpec{Name: name, Interval: testInterval, Config: whole.RTT})
	}
}

// run starts the process of one host and gathers what it prints.
func (b *testbed) run(t *testing.T, spec hostSpec) {
	t.Helper()
	encoded, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	command := b.Command(ctx, spec.Name, self)
	command.Env = append(os.Environ(), hostEnv+"="+string(encoded))
	command.Stderr = os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 5 * time.Second
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var said round
			if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
				t.Errorf("host %s says %s", spec.Name, lines.Text())
				return
			}
			b.mu.Lock()
			b.rounds[spec.Name] = append(b.rounds[spec.Name], said)
			b.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
		_ = command.Wait() // it was asked to end
	})
}

// ended returns the rounds of a host so far.
func (b *testbed) ended(host string) []round {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rounds[host])
}

// await asks until there is no complaint any more.
func await(t *testing.T, within time.Duration, complain func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		complaint := complain()
		if complaint == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s still: %s", within, complaint)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// between returns what a host has reported last about another; nil for nothing.
func (b *testbed) between(from, to string) *vicinityv1alpha1.PeerRTT {
	all := b.ended(from)
	if len(all) == 0 {
		return nil
	}
	return peerIn(&all[len(all)-1], to)
}

func peerIn(r *round, name string) *vicinityv1alpha1.PeerRTT {
	for i := range r.Status.Peers {
		if r.Status.Peers[i].Node == name {
			return &r.Status.Peers[i]
		}
	}
	return nil
}

// judgeMedians expects each pair's median within 5 % or 0.2 ms of what its links take, from 20 probes or more.
func (b *testbed) judgeMedians() string {
	for from, fromDelay := range accessDelays() {
		for to, toDelay := range accessDelays() {
			if from == to {
				continue
			}
			peer := b.between(from, to)
			if peer == nil || peer.Samples < window.MinForP99 {
				return fmt.Sprintf("%s to %s: too few probes: %+v; rounds: %d", from, to, peer, len(b.ended(from)))
			}
			want, got := 2*(fromDelay+toDelay), time.Duration(peer.P50Microseconds)*time.Microsecond
			if off := (got - want).Abs(); off > max(want/20, 200*time.Microsecond) {
				return fmt.Sprintf("%s to %s: median %s of %d, want %s", from, to, got, peer.Samples, want)
			}
		}
	}
	return ""
}

// heard counts the rounds of a host, begun after a time, until it says of another that its path is cut, or not.
func (b *testbed) heard(t *testing.T, from, to string, since time.Time, cut bool) int {
	t.Helper()
	count := 0
	await(t, 20*time.Second, func() string {
		count = 0
		for _, r := range b.ended(from) {
			peer := peerIn(&r, to)
			if r.Started.Before(since) || peer == nil {
				continue
			}
			count++
			if (peer.LossPartsPerMillion == wholeLoss) == cut {
				return ""
			}
		}
		return fmt.Sprintf("%s has not heard in %d rounds that the path to %s changed", from, count, to)
	})
	return count
}

func TestSixHostsMeasureEachOther(t *testing.T) {
	for _, tt := range []struct {
		name   string
		method configv1.ProbeMethod
		family int
		mtu    int
		bytes  int32
	}{
		{name: "UDP over IPv4", method: configv1.ProbeUDP, family: 4},
		{name: "ICMP over IPv4", method: configv1.ProbeICMP, family: 4},
		{name: "UDP over IPv6, in pieces because probes are longer than the MTU", method: configv1.ProbeUDP, family: 6, mtu: 1280, bytes: 1400},
		{name: "ICMP over IPv6", method: configv1.ProbeICMP, family: 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bed := newTestbed(t, tt.mtu)
			// 3 ms more or less on the longest link, twice a round trip: the median stays, the 99th percentile does not.
			if tt.mtu == 0 { // of a packet in pieces the latest piece counts
				bed.Set("h6", netem.Link{Delay: accessDelays()["h6"], Jitter: 3 * time.Millisecond})
			}
			bed.start(t, tt.family, configv1.RTTConfiguration{
				Method: tt.method, ProbesPerRound: 10, MaxProbesPerSecond: 2000, PacketBytes: tt.bytes,
				Window: metav1.Duration{Duration: 15 * time.Second},
			}, slices.Sorted(maps.Keys(accessDelays()))...)
			await(t, 25*time.Second, bed.judgeMedians)

			// Twice up to 3 ms of jitter: of 20 and more probes one is at least 1 ms above the median.
			jittered := bed.between("h1", "h6")
			if spread := jittered.P99Microseconds - jittered.P50Microseconds; tt.mtu == 0 && spread < 1000 {
				t.Errorf("h1 to h6: 99th percentile %d us above the median, want more than 1 ms", spread)
			}
			if said := bed.ended("h1")[0].Error; said != "" {
				t.Errorf("the first round ended with %s", said)
			}
			if tt.family == 4 {
				noticesACut(t, bed)
			}
		})
	}
}

// noticesACut cuts a link and mends it again.
func noticesACut(t *testing.T, bed *testbed) {
	t.Helper()
	before := bed.between("h1", "h3")
	for _, cut := range []bool{true, false} {
		bed.Set("h3", netem.Link{Delay: accessDelays()["h3"], Cut: cut})
		since := time.Now()
		for _, from := range []string{"h1", "h5"} {
			if n := bed.heard(t, from, "h3", since, cut); n > 2 {
				t.Errorf("%s heard after %d rounds that the path to h3 is cut=%t, want 2 at most", from, n, cut)
			}
		}
		if after := bed.between("h1", "h3"); cut && math.Abs(float64(after.P50Microseconds-before.P50Microseconds)) > 500 {
			t.Errorf("the last known median became %d us, it was %d us", after.P50Microseconds, before.P50Microseconds)
		}
	}
	if peer := bed.between("h1", "h4"); peer.LossPartsPerMillion > 0 {
		t.Errorf("h1 lost probes to h4, whose link was not touched: %+v", peer)
	}
}

func TestLossIsCounted(t *testing.T) {
	bed := newTestbed(t, 0)
	// A probe and its answer cross the link once each: 1 - 0.9^2 = 19 %, 1 - 0.98^2 = 4 %.
	bed.Set("h2", netem.Link{Loss: 0.1})
	bed.Set("h3", netem.Link{Loss: 0.02})
	bed.start(t, 4, configv1.RTTConfiguration{
		Method: configv1.ProbeICMP, ProbesPerRound: 100, MaxProbesPerSecond: 10000, Window: metav1.Duration{Duration: time.Minute},
	}, "h1")
	// Of 1000 probes, 19 % have a standard deviation of sqrt(0.19 x 0.81 / 1000) = 1.2 points, of 4000 half of that.
	await(t, 40*time.Second, func() string {
		for host, want := range map[string]float64{"h2": 19, "h3": 4, "h4": 0} {
			peer := bed.between("h1", host)
			if peer == nil || peer.Samples < 1000 {
				return fmt.Sprintf("%s: too few probes: %+v", host, peer)
			}
			if got := float64(peer.LossPartsPerMillion) / 10_000; math.Abs(got-want) > 3 {
				return fmt.Sprintf("%s: %.1f %% of %d lost, want %.0f %%", host, got, peer.Samples, want)
			}
		}
		return ""
	})
}

func TestWhatIsTooLongForThePathIsLost(t *testing.T) {
	bed := newTestbed(t, 0)
	bed.Set("h2", netem.Link{MTU: 600})
	bed.start(t, 4, configv1.RTTConfiguration{
		Method: configv1.ProbeUDP, ProbesPerRound: 5, MaxProbesPerSecond: 1000, PacketBytes: 1000,
	}, "h1", "h2", "h3")
	await(t, 20*time.Second, func() string {
		long, passes := bed.between("h1", "h2"), bed.between("h1", "h3")
		if long == nil || passes == nil || long.LossPartsPerMillion != wholeLoss || long.P50Microseconds != 0 || passes.LossPartsPerMillion != 0 {
			return fmt.Sprintf("want all lost to h2 and nothing to h3, found %+v and %+v", long, passes)
		}
		return ""
	})
}

func TestAutoFallsBackToUDP(t *testing.T) {
	bed := newTestbed(t, 0)
	output, err := bed.Command(t.Context(), "h2", "sysctl", "-w", "net.ipv4.icmp_echo_ignore_all=1").CombinedOutput()
	if err != nil {
		t.Skipf("a host that answers no ICMP cannot be made here: %v: %s", err, output)
	}
	bed.start(t, 4, configv1.RTTConfiguration{ProbesPerRound: 5, MaxProbesPerSecond: 1000}, "h1", "h2")
	await(t, 20*time.Second, func() string {
		// Until h2's agent runs, nothing there answers.
		silent, kernel := bed.between("h1", "h2"), bed.between("h1", "h4")
		if silent == nil || kernel == nil || silent.P50Microseconds == 0 || silent.LossPartsPerMillion > wholeLoss/2 || kernel.P50Microseconds == 0 {
			return fmt.Sprintf("want h2 measured by UDP and h4, which has no agent, by ICMP; found %+v and %+v", silent, kernel)
		}
		return ""
	})
}
