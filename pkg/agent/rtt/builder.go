package rtt

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// Name is the collector's name in the configuration.
const Name = configv1.RTTCollector

// NewBuilder returns the builder of the collector. It calls connect, which tells how to reach the API server, only if the
// collector is enabled.
func NewBuilder(connect func() (*rest.Config, error)) agent.Builder {
	return agent.Builder{
		Name: Name,
		New: func(_ context.Context, o agent.BuilderOptions) (agent.Collector, error) {
			config, err := connect()
			if err != nil {
				return nil, err
			}
			store, err := newObjectStore(config, o.NodeName)
			if err != nil {
				return nil, fmt.Errorf("cannot make a client for the API server: %w", err)
			}
			return newCollector(o.NodeName, &o.Config.RTT, store, o.Registerer, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
		},
	}
}

// newCollector makes the collector of a configuration that is defaulted and valid.
func newCollector(self string, c *configv1.RTTConfiguration, store statusStore, r prometheus.Registerer, random *rand.Rand,
) (*Collector, error) {
	port, err := c.EchoPort()
	if err != nil {
		return nil, fmt.Errorf("rtt.echoAddress: %w", err)
	}
	m, err := newMetrics(r)
	if err != nil {
		return nil, err
	}
	locator, err := delay.NewLocator(delay.Coordinate{})
	if err != nil {
		return nil, err
	}
	who := &identity{}
	place := locator.Coordinate()
	who.coordinate.Store(&place)
	udp := newUDPMethod(port, who)
	return &Collector{
		self: self, config: c, rand: random, store: store, metrics: m,
		identity: who, udp: udp, locator: locator,
		methods: methods{udp: udp, auto: c.Method == configv1.ProbeAuto, preferUDP: c.Method == configv1.ProbeUDP},
		// A burst and the echo that brings the coordinate.
		limit: rate.NewLimiter(rate.Limit(c.MaxProbesPerSecond), int(c.ProbesPerRound)+1),
		list:  listFile{path: c.TargetsFile},
		nodes: map[string]*path{}, endpoints: map[string]*path{},
		reporter: &reporter{
			store: store, thresholdPercent: c.ReportThresholdPercent, schedule: report.Schedule{Heartbeat: c.Heartbeat.Duration},
		},
	}, nil
}
