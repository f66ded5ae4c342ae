package rtt

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

var errNoToken = errors.New("no token for the echo yet: the list of targets brings it")

// udpMethod measures by the echo of other agents. Close ends its goroutines.
type udpMethod struct {
	port     uint16
	identity *identity
	done     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	conns   map[string]*net.UDPConn // by network, udp4 or udp6; opened when first needed
	pending map[uint64]*pending     // by nonce
}

// pending is a probe without an answer yet.
type pending struct {
	sent    time.Time
	answers chan<- answer
}

type answer struct {
	rtt        time.Duration
	coordinate delay.Coordinate
}

func newUDPMethod(port uint16, who *identity) *udpMethod {
	return &udpMethod{port: port, identity: who, conns: map[string]*net.UDPConn{}, pending: map[uint64]*pending{}}
}

// close ends the sockets and waits for their readers.
func (m *udpMethod) close() error {
	m.mu.Lock()
	m.closed = true
	errs := make([]error, 0, len(m.conns))
	for _, conn := range m.conns {
		errs = append(errs, conn.Close())
	}
	m.mu.Unlock()
	m.done.Wait()
	return errors.Join(errs...)
}

// socket returns the socket for the address's family, with a reader behind it.
func (m *udpMethod) socket(to netip.Addr) (*net.UDPConn, error) {
	network := "udp6"
	if to.Is4() {
		network = "udp4"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, net.ErrClosed
	}
	if conn := m.conns[network]; conn != nil {
		return conn, nil
	}
	conn, err := net.ListenUDP(network, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot open a socket for echo probes: %w", err)
	}
	m.conns[network] = conn
	m.done.Go(func() { m.read(conn) })
	return conn, nil
}

// probe implements method.
func (m *udpMethod) probe(ctx context.Context, to netip.Addr, b burst) (outcome, error) {
	to = to.Unmap()
	key := m.identity.token()
	if key == nil {
		return outcome{}, errNoToken
	}
	conn, err := m.socket(to)
	if err != nil {
		return outcome{}, err
	}
	answers := make(chan answer, b.count)
	nonces := make([]uint64, 0, b.count)
	defer func() { m.forget(nonces) }()
	buffer := make([]byte, max(b.bytes, packetBytes))
	for i := range b.count {
		if i > 0 && !pause(ctx, b.spacing) {
			break
		}
		nonce, err := newNonce()
		if err != nil {
			return outcome{}, err
		}
		request := packet{kind: kindRequest, nonce: nonce, coordinate: m.identity.place()}
		request.write(buffer, key)
		nonces = append(nonces, nonce)
		m.expect(nonce, &pending{sent: time.Now(), answers: answers})
		// An error of the network, such as no route, shows as no answer, which it is.
		_, _ = conn.WriteToUDPAddrPort(buffer, netip.AddrPortFrom(to, m.port))
	}
	return gather(ctx, answers, len(nonces), b.timeout), nil
}

// gather waits for the answers to all probes that were sent, as long as the last one may take.
func gather(ctx context.Context, answers <-chan answer, sent int, timeout time.Duration) outcome {
	o := outcome{sent: sent}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	times := make([]time.Duration, 0, sent)
wait:
	for len(times) < sent {
		select {
		case a := <-answers:
			times = append(times, a.rtt)
			if len(a.coordinate.Vector) > 0 {
				o.coordinate = a.coordinate
			}
		case <-timer.C:
			break wait
		case <-ctx.Done():
			break wait
		}
	}
	o.answered = inTime(times, timeout)
	return o
}

func (m *udpMethod) expect(nonce uint64, p *pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending[nonce] = p
}

func (m *udpMethod) forget(nonces []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, nonce := range nonces {
		delete(m.pending, nonce)
	}
}

// read takes answers from a socket until it is closed. An answer is known by its nonce and its token, not by the address
// that it comes from: a host with several addresses may answer from another than it was asked at.
func (m *udpMethod) read(conn *net.UDPConn) {
	buffer := make([]byte, maxDatagram)
	for {
		n, _, err := conn.ReadFromUDPAddrPort(buffer)
		received := time.Now()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		reply, err := readPacket(buffer[:n], m.identity.token())
		if err != nil || reply.kind != kindReply {
			continue
		}
		m.mu.Lock()
		p := m.pending[reply.nonce]
		delete(m.pending, reply.nonce)
		m.mu.Unlock()
		if p != nil {
			p.answers <- answer{rtt: received.Sub(p.sent), coordinate: reply.coordinate} // there is room: one a probe
		}
	}
}

func newNonce() (uint64, error) {
	var bytes [8]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		return 0, fmt.Errorf("no random numbers for echo probes: %w", err)
	}
	return binary.BigEndian.Uint64(bytes[:]), nil
}
