package rtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/window"
)

// endpointCount is how many probes an endpoint gets each time: it has not asked for any.
const endpointCount = 3

// path is what is known of the way to one target. It belongs to the collector's goroutine; while a round measures, it
// belongs to the goroutine that measures this path.
type path struct {
	// name is that of a node, or an endpoint as the bound has it.
	name     string
	endpoint bool
	// address is a node's; an endpoint's is looked up each time.
	address netip.Addr
	// current says that the target is on the list now, and reference that bounds refer to it, so that all nodes probe it.
	current, reference bool

	window window.Window
	// probedAt is the beginning of the latest round that probed the path.
	probedAt time.Time
	// viaUDP says that the target answers UDP and not ICMP.
	viaUDP bool
	// coordinate is what the target said of itself in the latest round.
	coordinate delay.Coordinate
	// nearest is the shortest time of the latest round, lost if there was none: what network coordinates are made from.
	nearest time.Duration
}

// methods are the ways to measure that this agent has.
type methods struct {
	icmp method // nil if it may not send any
	udp  method
	// auto says that targets that do not answer ICMP are measured by UDP.
	auto bool
	// preferUDP says that nodes are measured by UDP in any case.
	preferUDP bool
}

// measured is the outcome of a round on one path, with the name of what measured it.
type measured struct {
	outcome

	method string
}

// measureNode probes a node. One echo by UDP goes out in any case: it brings the node's coordinate.
func (m *methods) measureNode(ctx context.Context, p *path, b burst) (measured, error) {
	if m.preferUDP || m.icmp == nil || m.auto && p.viaUDP {
		o, err := m.udp.probe(ctx, p.address, b)
		p.coordinate = o.coordinate
		// What is silent now may have changed; the next round tries ICMP again.
		p.viaUDP = p.viaUDP && len(o.answered) > 0
		return measured{outcome: o, method: methodUDP}, err
	}
	o, exchange, err := m.both(ctx, p.address, b)
	if err != nil {
		return measured{}, err
	}
	p.coordinate = exchange.coordinate
	if m.auto && o.sent > 0 && len(o.answered) == 0 && len(exchange.answered) > 0 {
		p.viaUDP = true
		return measured{outcome: exchange, method: methodUDP}, nil
	}
	return measured{outcome: o, method: methodICMP}, nil
}

// both sends a burst of ICMP and one echo by UDP, at the same time: an agent that does not answer must not make the round
// longer. Without a token there is only ICMP.
func (m *methods) both(ctx context.Context, to netip.Addr, b burst) (echoed, exchange outcome, err error) {
	var exchangeErr error
	var other sync.WaitGroup
	other.Go(func() {
		exchange, exchangeErr = m.udp.probe(ctx, to, burst{count: 1, spacing: b.spacing, timeout: b.timeout, bytes: b.bytes})
	})
	echoed, err = m.icmp.probe(ctx, to, b)
	other.Wait()
	if errors.Is(exchangeErr, errNoToken) {
		exchangeErr = nil
	}
	return echoed, exchange, errors.Join(err, exchangeErr)
}

// measureEndpoint probes a place outside of the cluster: by TCP if a port is named, else by ICMP.
func (m *methods) measureEndpoint(ctx context.Context, name string, b burst) (measured, error) {
	host, port, err := splitEndpoint(name)
	if err != nil {
		return measured{}, err
	}
	address, err := lookUp(ctx, host, b.timeout)
	if err != nil {
		return measured{}, err
	}
	b.count = min(b.count, endpointCount)
	if port != 0 {
		o, err := (&tcpMethod{port: port}).probe(ctx, address, b)
		return measured{outcome: o, method: methodTCP}, err
	}
	if m.icmp == nil {
		return measured{}, fmt.Errorf("endpoint %q names no port, and this agent may not send ICMP", name)
	}
	o, err := m.icmp.probe(ctx, address, b)
	return measured{outcome: o, method: methodICMP}, err
}

// splitEndpoint takes "host", "host:port", an IP address, or one with a port ("[::1]:80") apart; port 0 means none.
func splitEndpoint(name string) (host string, port uint16, err error) {
	if _, err := netip.ParseAddr(name); err == nil {
		return name, 0, nil
	}
	host, text, err := net.SplitHostPort(name)
	if err != nil {
		// There is no colon, or too many; the latter no resolver takes for a host.
		return name, 0, nil //nolint:nilerr // not every endpoint has a port
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil || number == 0 || host == "" {
		return "", 0, fmt.Errorf("endpoint %q: expected host, or host:port with a port from 1 to 65535", name)
	}
	return host, uint16(number), nil
}

// lookUp returns the address to probe. An endpoint is what a user wrote on a pod: agents must not be sent to places that
// only they can reach.
func lookUp(ctx context.Context, host string, timeout time.Duration) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("endpoint: cannot look up %q: %w", host, err)
	}
	for _, address := range found {
		address = address.Unmap()
		if targets.Usable(address) && !address.IsLoopback() && !address.IsLinkLocalUnicast() {
			return address, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("endpoint: %q has no address that an agent would probe: found %v", host, found)
}

// take notes the outcome of a round that ended at now.
func (p *path) take(now time.Time, span time.Duration, o outcome) {
	p.nearest = lost
	for _, rtt := range o.answered {
		if p.nearest == lost || rtt < p.nearest {
			p.nearest = rtt
		}
	}
	p.window.Add(now, span, o.answered, max(0, o.sent-len(o.answered)))
}

// lost stands for the time of what was not answered.
const lost time.Duration = -1

// known tells whether there is anything to report.
func (p *path) known() bool {
	s := p.window.Summary()
	return s.Samples > 0
}
