//go:build linux

package netem_test

import (
	"context"
	"errors"
	"math"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vicinity-scheduler/vicinity/test/netem"
)

func twoHosts(t *testing.T) *netem.Network {
	t.Helper()
	if testing.Short() {
		t.Skip("measures times: not with -short, nor with the race detector's slowness")
	}
	network, err := netem.New(t.Context(), []netem.Host{
		{Name: "a", Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.1/24"), netip.MustParsePrefix("fd77::1/64")}},
		{Name: "b", Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.2/24"), netip.MustParsePrefix("fd77::2/64")}},
	}, 1)
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
	return network
}

// echoing opens an echo on b and a connection from a to it.
func echoing(t *testing.T, network *netem.Network, address string) net.Conn {
	t.Helper()
	var server net.PacketConn
	var client net.Conn
	err := network.Do("b", func() (err error) {
		server, err = (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		buffer := make([]byte, 2000)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(buffer[:n], from)
		}
	}()
	err = network.Do("a", func() (err error) {
		client, err = (&net.Dialer{}).DialContext(t.Context(), "udp", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// roundTrips sends n packets, one after the other, and returns the times of those that came back, in ascending order.
func roundTrips(t *testing.T, client net.Conn, n, bytes int, wait time.Duration) []time.Duration {
	t.Helper()
	var times []time.Duration
	packet := make([]byte, bytes)
	for range n {
		start := time.Now()
		if _, err := client.Write(packet); err != nil {
			t.Fatal(err)
		}
		if err := client.SetReadDeadline(start.Add(wait)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Read(packet); err == nil {
			times = append(times, time.Since(start))
		}
	}
	slices.Sort(times)
	return times
}

func TestALinkTakesAsLongAsItShould(t *testing.T) {
	network := twoHosts(t)
	for _, address := range []string{"10.77.0.2:7777", "[fd77::2]:7777"} {
		client := echoing(t, network, address)
		for _, delay := range []time.Duration{0, 250 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
			network.Set("a", netem.Link{Delay: delay})
			network.Set("b", netem.Link{Delay: delay})
			judgeMedian(t, client, 4*delay) // out over both links, and back
		}
	}
}

// judgeMedian expects a median of at least want, and at most 5 % or 0.15 ms more. A machine that is busy with other things
// delays packets for a while: it gets several chances to have none of them. A wire that is too slow fails all.
func judgeMedian(t *testing.T, client net.Conn, want time.Duration) {
	t.Helper()
	const chances = 10
	var median time.Duration
	for range chances {
		times := roundTrips(t, client, 41, 64, time.Second)
		if len(times) < 41 {
			t.Fatalf("%d of 41 packets came back", len(times))
		}
		if median = times[20]; median < want {
			t.Fatalf("median %s, want at least %s", median, want)
		}
		if median <= want+max(want/20, 150*time.Microsecond) {
			return
		}
	}
	t.Errorf("median %s, the %d. time; want %s", median, chances, want)
}

func TestALinkLosesAsMuchAsItShould(t *testing.T) {
	network := twoHosts(t)
	client := echoing(t, network, "10.77.0.2:7777")
	network.Set("a", netem.Link{Loss: 0.1})
	// Both ways get through with 0.9 x 0.9 = 0.81. Of 500 that is 405, with a standard deviation of
	// sqrt(500 x 0.81 x 0.19) = 8.8; four of these are 35.
	if got := len(roundTrips(t, client, 500, 64, 5*time.Millisecond)); math.Abs(float64(got)-405) > 35 {
		t.Errorf("%d of 500 packets came back, want 405 or so", got)
	}
}

func TestALinkHasALongestPacketAndCanBeCut(t *testing.T) {
	network := twoHosts(t)
	client := echoing(t, network, "10.77.0.2:7777")
	network.Set("b", netem.Link{MTU: 600})
	if got := len(roundTrips(t, client, 5, 572, 100*time.Millisecond)); got != 5 { // 572 and 28 of headers are 600
		t.Errorf("%d of 5 packets of 600 bytes came back, want all", got)
	}
	if got := len(roundTrips(t, client, 5, 573, 10*time.Millisecond)); got != 0 {
		t.Errorf("%d of 5 packets of 601 bytes came back, want none", got)
	}
	network.Set("b", netem.Link{Cut: true})
	if got := len(roundTrips(t, client, 5, 64, 10*time.Millisecond)); got != 0 {
		t.Errorf("%d of 5 packets came back over a cut link", got)
	}
}
