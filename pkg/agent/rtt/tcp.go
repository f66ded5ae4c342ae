package rtt

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// tcpMethod measures by how long a TCP connection takes to be made or refused, which is one round trip. It is for places
// outside of the cluster, which answer no echo of ours and often no ICMP.
type tcpMethod struct {
	port uint16
}

// probe implements method. Connections are closed at once; nothing is sent on them.
func (m *tcpMethod) probe(ctx context.Context, to netip.Addr, b burst) (outcome, error) {
	o := outcome{}
	dialer := &net.Dialer{Timeout: b.timeout}
	for i := range b.count {
		if i > 0 && !pause(ctx, b.spacing) {
			break
		}
		start := time.Now()
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(to, m.port).String())
		elapsed := time.Since(start)
		if ctx.Err() != nil {
			break
		}
		o.sent++
		switch {
		case err == nil:
			_ = conn.Close()
			o.answered = append(o.answered, elapsed)
		case errors.Is(err, syscall.ECONNREFUSED):
			// Nobody listens, but the host has answered.
			o.answered = append(o.answered, elapsed)
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EADDRNOTAVAIL):
			return o, err
		}
	}
	o.answered = inTime(o.answered, b.timeout)
	return o, nil //nolint:nilerr // a connection that fails is a probe without an answer
}
