package diskstats

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// Name is the collector's name in the configuration.
const Name = configv1.DiskStatsCollector

// Options is what the collector needs beside its configuration.
type Options struct {
	// Connect tells how to reach the API server. It is called only if the collector is enabled.
	Connect func() (*rest.Config, error)
	// Namespace is where the node's objects are.
	Namespace string
	// Simulate is a file of disks to report instead of the machine's, or empty.
	Simulate string
}

// NewBuilder returns the builder of the collector.
func NewBuilder(o Options) agent.Builder {
	return agent.Builder{
		Name: Name,
		New: func(_ context.Context, b agent.BuilderOptions) (agent.Collector, error) {
			config, err := o.Connect()
			if err != nil {
				return nil, err
			}
			store, err := newAPIObjects(config, b.NodeName, o.Namespace)
			if err != nil {
				return nil, fmt.Errorf("cannot make a client for the API server: %w", err)
			}
			return newCollector(&b.Config.DiskStats, hostdisk.Root(b.Config.HostRoot), o, store, b.Registerer)
		},
	}
}

// newCollector makes the collector of a configuration that is defaulted and valid.
func newCollector(
	c *configv1.DiskStatsConfiguration, machine fs.FS, o Options, store objects, r prometheus.Registerer,
) (*Collector, error) {
	m, err := newMetrics(r)
	if err != nil {
		return nil, err
	}
	return &Collector{
		machine: machine, simulate: o.Simulate, window: window{size: int(c.Window)}, objects: store,
		schedule: report.Schedule{Heartbeat: c.Heartbeat.Duration}, thresholdPercent: c.ReportThresholdPercent, metrics: m,
	}, nil
}
