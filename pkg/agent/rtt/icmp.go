package rtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	probing "github.com/prometheus-community/pro-bing"
)

const (
	// minICMPBytes is what pro-bing puts into a packet: a time and a tracker.
	minICMPBytes = 24
	// detectTimeout bounds the try whether this process may send ICMP echo requests.
	detectTimeout = 500 * time.Millisecond
)

// icmpMethod measures by ICMP echo.
type icmpMethod struct {
	// privileged says that raw sockets are used; otherwise the datagram sockets of net.ipv4.ping_group_range.
	privileged bool
}

// detectICMP finds out whether this process may send ICMP echo requests, and how, by trying it on the loopback address.
func detectICMP(ctx context.Context) (*icmpMethod, error) {
	var errs []error
	for _, m := range []*icmpMethod{{privileged: false}, {privileged: true}} {
		for _, loopback := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
			o, err := m.probe(ctx, loopback, burst{count: 1, spacing: time.Millisecond, timeout: detectTimeout, bytes: packetBytes})
			if err == nil && len(o.answered) == 1 {
				return m, nil
			}
			errs = append(errs, err)
		}
	}
	return nil, fmt.Errorf("this process may not send ICMP echo requests; the group must be in sysctl net.ipv4.ping_group_range, "+
		"or the container needs NET_RAW: %w", errors.Join(errs...))
}

// probe implements method.
//
// The library dates a probe in its payload by the wall clock. A step of that clock while a probe is under way would be
// taken for a round-trip time, so that a time longer than the burst took by the monotonic clock, or negative, is left out.
func (m *icmpMethod) probe(ctx context.Context, to netip.Addr, b burst) (outcome, error) {
	to = to.Unmap()
	p := probing.New(to.String())
	p.SetIPAddr(&net.IPAddr{IP: to.AsSlice(), Zone: to.Zone()})
	p.SetPrivileged(m.privileged)
	p.SetLogger(probing.NoopLogger{})
	p.Count, p.Interval, p.Timeout, p.Size = b.count, b.spacing, b.lasts(), max(b.bytes, minICMPBytes)
	p.RecordTTLs = false
	attempts := &attempts{}
	p.OnSend = func(*probing.Packet) { attempts.add(nil) }
	p.OnSendError = func(_ *probing.Packet, err error) { attempts.add(err) }

	start := time.Now()
	err := p.RunWithContext(ctx)
	elapsed := time.Since(start)
	sent, failure := attempts.result()
	switch {
	case err == nil, ctx.Err() != nil: // what was measured until then counts
	case failure != nil && ofNetwork(failure):
		// The library gives up when the first probe cannot leave; the others could not have left either.
		sent = b.count
	default:
		return outcome{}, fmt.Errorf("ICMP echo to %s: %w", to, err)
	}
	return outcome{sent: sent, answered: inTime(p.Statistics().Rtts, min(b.timeout, elapsed))}, nil //nolint:nilerr // see the switch
}

// attempts counts probes. The library calls back from a goroutine of its own.
type attempts struct {
	mu    sync.Mutex
	count int
	last  error
}

func (a *attempts) add(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count++
	if err != nil {
		a.last = err
	}
}

func (a *attempts) result() (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count, a.last
}

// ofNetwork tells whether an error says that the way to the target is cut, rather than that this process may not send.
func ofNetwork(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.ECONNREFUSED, syscall.EMSGSIZE,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
