package rtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

const (
	// maxDatagram is the longest echo packet. A longer one is cut off when it is read, and does not matter.
	maxDatagram = 9216
	// echoBurst is how many packets may come at once: the probes of some hundred nodes.
	echoBurst = 500
)

// identity is what changes while sockets are open: the cluster's token and the node's coordinate. It is read by the
// goroutines of the sockets.
type identity struct {
	key        atomic.Pointer[[]byte]
	coordinate atomic.Pointer[delay.Coordinate]
}

func (i *identity) setKey(key []byte) {
	if len(key) == 0 {
		i.key.Store(nil)
		return
	}
	i.key.Store(&key)
}

// token returns the key, nil if there is none yet.
func (i *identity) token() []byte {
	if key := i.key.Load(); key != nil {
		return *key
	}
	return nil
}

func (i *identity) place() delay.Coordinate {
	if c := i.coordinate.Load(); c != nil {
		return *c
	}
	return delay.Coordinate{}
}

// echoServer answers the echo requests of other agents.
type echoServer struct {
	conn     net.PacketConn
	identity *identity
	limit    *rate.Limiter
	metrics  *echoMetrics
	done     sync.WaitGroup
}

// echoMetrics count what the server did with packets.
type echoMetrics struct {
	answered prometheus.Counter
	dropped  map[string]prometheus.Counter // by reason
}

// Why an echo request was not answered, as the metrics call it.
const (
	droppedRate    = "rate"
	droppedToken   = "token"
	droppedNoToken = "no_token"
	droppedSend    = "send"
)

// newEchoServer opens the address and answers until it is closed.
func newEchoServer(ctx context.Context, address string, perSecond int, who *identity, m *echoMetrics) (*echoServer, error) {
	conn, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, fmt.Errorf("rtt.echoAddress: cannot serve the echo: %w", err)
	}
	s := &echoServer{conn: conn, identity: who, limit: rate.NewLimiter(rate.Limit(perSecond), echoBurst), metrics: m}
	s.done.Go(s.serve)
	return s, nil
}

// close ends the server and waits for it.
func (s *echoServer) close() error {
	err := s.conn.Close()
	s.done.Wait()
	return err
}

func (s *echoServer) serve() {
	buffer := make([]byte, maxDatagram)
	for {
		n, from, err := s.conn.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // such as an ICMP error about an earlier reply
		}
		if reason := s.answer(buffer[:n], from); reason != "" {
			s.metrics.dropped[reason].Inc()
			continue
		}
		s.metrics.answered.Inc()
	}
}

// answer sends the reply, which is as long as the request. It returns why it did not, "" if it did. The rate is looked at
// before the token: checking a flood of forged packets is work too.
func (s *echoServer) answer(request []byte, from net.Addr) string {
	if !s.limit.Allow() {
		return droppedRate
	}
	key := s.identity.token()
	if key == nil {
		return droppedNoToken
	}
	asked, err := readPacket(request, key)
	if err != nil || asked.kind != kindRequest {
		// A reply must not be answered: two servers could keep each other busy for ever.
		return droppedToken
	}
	reply := packet{kind: kindReply, nonce: asked.nonce, coordinate: s.identity.place()}
	reply.write(request, key)
	if _, err := s.conn.WriteTo(request, from); err != nil {
		return droppedSend
	}
	return ""
}
