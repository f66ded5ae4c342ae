package rtt

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/window"
)

const ms = time.Millisecond

func testKey() []byte { return bytes.Repeat([]byte{7}, 16) }

func somewhere() delay.Coordinate {
	c := delay.Coordinate{Height: 10 * time.Microsecond, Adjustment: -3, Error: 0.25}
	for i := range delay.Dimensions {
		c.Vector = append(c.Vector, time.Duration(i)*ms-3*ms)
	}
	return c
}

func TestAPacketIsReadAsItWasWritten(t *testing.T) {
	for name, want := range map[string]packet{
		"with a coordinate": {kind: kindRequest, nonce: 1<<63 + 5, coordinate: somewhere()},
		"without one":       {kind: kindReply, nonce: 1},
	} {
		buffer := make([]byte, 200)
		want.write(buffer, testKey())
		got, err := readPacket(buffer, testKey())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(packet{})); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
}

func TestAnImpossibleCoordinateIsLeftOut(t *testing.T) {
	for name, spoil := range map[string]func(*delay.Coordinate){
		"far away":          func(c *delay.Coordinate) { c.Vector[3] = 2 * delay.MaxDelay },
		"below the network": func(c *delay.Coordinate) { c.Height = -1 },
		"too sure":          func(c *delay.Coordinate) { c.Error = 0 },
		"adjusted by years": func(c *delay.Coordinate) { c.Adjustment = -20000 * time.Hour },
	} {
		sent := packet{kind: kindReply, coordinate: somewhere()}
		spoil(&sent.coordinate)
		buffer := make([]byte, packetBytes)
		sent.write(buffer, testKey())
		got, err := readPacket(buffer, testKey())
		if err != nil || len(got.coordinate.Vector) != 0 {
			t.Errorf("%s: read %v, %v; want a packet without a coordinate", name, got, err)
		}
	}
}

// serveEcho serves an echo on a port of its own.
func serveEcho(t *testing.T, key []byte, perSecond int) (*echoServer, netip.AddrPort) {
	t.Helper()
	m, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	who := &identity{}
	who.setKey(key)
	place := somewhere()
	who.coordinate.Store(&place)
	s, err := newEchoServer(t.Context(), "127.0.0.1:0", perSecond, who, m.echo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s, s.conn.LocalAddr().(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // of a UDP socket
}

func TestTheEchoAnswersTheAgentsOfItsClusterOnly(t *testing.T) {
	request := make([]byte, 300)
	asked := packet{kind: kindRequest, nonce: 42}
	asked.write(request, testKey())
	changed := func(change func([]byte)) []byte {
		data := bytes.Clone(request)
		change(data)
		return data
	}
	reply := make([]byte, packetBytes)
	(&packet{kind: kindReply, nonce: 42}).write(reply, testKey())

	tests := []struct {
		name string
		key  []byte
		sent []byte
		drop string
	}{
		{name: "a request is answered in its own length", key: testKey(), sent: request},
		{name: "a request with another token", key: bytes.Repeat([]byte{8}, 16), sent: request, drop: droppedToken},
		{name: "a request that was changed", key: testKey(), sent: changed(func(d []byte) { d[offsetNonce]++ }), drop: droppedToken},
		{name: "a request cut short", key: testKey(), sent: request[:packetBytes-1], drop: droppedToken},
		{name: "an empty packet", key: testKey(), sent: nil, drop: droppedToken},
		{name: "a reply, which would never end", key: testKey(), sent: reply, drop: droppedToken},
		{name: "before the token is known", sent: request, drop: droppedNoToken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, address := serveEcho(t, tt.key, 1000)
			client, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(address))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			if _, err := client.Write(tt.sent); err != nil {
				t.Fatal(err)
			}
			if tt.drop != "" {
				awaitCount(t, s.metrics.dropped[tt.drop])
				return
			}
			answer := make([]byte, 1000)
			_ = client.SetReadDeadline(time.Now().Add(10 * time.Second))
			n, err := client.Read(answer)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readPacket(answer[:n], testKey())
			want := packet{kind: kindReply, nonce: 42, coordinate: somewhere()}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(packet{})); err != nil || diff != "" || n != len(request) {
				t.Errorf("%d bytes, %v, want %d:\n%s", n, err, len(request), diff)
			}
		})
	}
}

func awaitCount(t *testing.T, counter prometheus.Counter) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); testutil.ToFloat64(counter) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing was counted within 10 s")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestTheEchoHasALimit(t *testing.T) {
	s, address := serveEcho(t, testKey(), 1)
	client, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(address))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	request := make([]byte, packetBytes)
	(&packet{kind: kindRequest}).write(request, testKey())
	// What the socket's buffer does not hold is lost before it counts.
	sent := 0
	for deadline := time.Now().Add(20 * time.Second); testutil.ToFloat64(s.metrics.dropped[droppedRate]) == 0; sent++ {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was dropped of %d requests", sent)
		}
		if _, err := client.Write(request); err != nil {
			t.Fatal(err)
		}
	}
	if answered := testutil.ToFloat64(s.metrics.answered); answered > echoBurst+30 {
		t.Errorf("%v of %d were answered, want %d and one a second", answered, sent, echoBurst)
	}
}

func TestAnEchoTellsTheTimeAndThePlace(t *testing.T) {
	_, address := serveEcho(t, testKey(), 1000)
	who := &identity{}
	m := newUDPMethod(address.Port(), who)
	b := burst{count: 5, spacing: time.Millisecond, timeout: 5 * time.Second, bytes: 1000}
	if _, err := m.probe(t.Context(), address.Addr(), b); err == nil {
		t.Error("a probe without a token succeeded")
	}
	who.setKey(testKey())
	o, err := m.probe(t.Context(), address.Addr(), b)
	if err != nil || o.sent != 5 || len(o.answered) != 5 {
		t.Fatalf("%+v, %v; want 5 answers", o, err)
	}
	if diff := cmp.Diff(somewhere(), o.coordinate); diff != "" {
		t.Errorf("coordinate (-want +got):\n%s", diff)
	}
	who.setKey(bytes.Repeat([]byte{9}, 16))
	b.timeout = 20 * ms
	if o, err := m.probe(t.Context(), address.Addr(), b); err != nil || o.sent != 5 || len(o.answered) != 0 {
		t.Errorf("with another token: %+v, %v; want 5 without an answer", o, err)
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
	if _, err := m.probe(t.Context(), address.Addr(), b); err == nil {
		t.Error("a probe after Close succeeded")
	}
}

func FuzzReadPacket(f *testing.F) {
	valid := make([]byte, packetBytes)
	(&packet{kind: kindRequest, nonce: 3, coordinate: somewhere()}).write(valid, testKey())
	f.Add(valid, true)
	f.Add([]byte("VRT1"), false)
	f.Add(make([]byte, 300), true)
	f.Fuzz(func(t *testing.T, data []byte, sign bool) {
		if sign && len(data) >= packetBytes {
			copy(data[offsetMAC:packetBytes], mac(data[:offsetMAC], testKey()))
		}
		p, err := readPacket(data, testKey())
		if err != nil {
			return
		}
		if len(p.coordinate.Vector) > 0 && !plausible(&p.coordinate) {
			t.Fatalf("an implausible coordinate was believed: %+v", p.coordinate)
		}
		locator, err := delay.NewLocator(delay.Coordinate{})
		if err != nil {
			t.Fatal(err)
		}
		_ = locator.Observe("peer", p.coordinate, time.Duration(rand.Uint32()))
	})
}

func BenchmarkProbe(b *testing.B) {
	m, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		b.Fatal(err)
	}
	who := &identity{}
	who.setKey(testKey())
	s, err := newEchoServer(b.Context(), "127.0.0.1:0", 1<<30, who, m.echo)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.close() }()
	address := s.conn.LocalAddr().(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // of a UDP socket
	udp := newUDPMethod(address.Port(), who)
	defer func() { _ = udp.close() }()
	one := burst{count: 1, spacing: time.Millisecond, timeout: time.Second, bytes: packetBytes}

	b.Run("UDP round trip with both sides", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if o, err := udp.probe(b.Context(), address.Addr(), one); err != nil || len(o.answered) != 1 {
				b.Fatal(o, err)
			}
		}
	})
	b.Run("ICMP round trip", func(b *testing.B) {
		icmp, err := detectICMP(b.Context())
		if err != nil {
			b.Skip(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if o, err := icmp.probe(b.Context(), address.Addr(), one); err != nil || len(o.answered) != 1 {
				b.Fatal(o, err)
			}
		}
	})
	b.Run("echo request checked and answered", func(b *testing.B) {
		request := make([]byte, packetBytes)
		b.ReportAllocs()
		for b.Loop() {
			(&packet{kind: kindRequest, nonce: 1}).write(request, testKey())
			asked, err := readPacket(request, testKey())
			if err != nil {
				b.Fatal(err)
			}
			(&packet{kind: kindReply, nonce: asked.nonce}).write(request, testKey())
		}
	})
	b.Run("a round into the window", func(b *testing.B) {
		w, now := window.Window{}, time.Unix(0, 0)
		answered := []time.Duration{1, 2, 3, 4, 5}
		b.ReportAllocs()
		for b.Loop() {
			now = now.Add(15 * time.Second)
			w.Add(now, 3*time.Minute, answered, 0)
		}
	})
}
