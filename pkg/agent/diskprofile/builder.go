package diskprofile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/fioprofile"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// Name is the collector's name in the configuration.
const Name = configv1.DiskProfileCollector

const objectSuffix = "-nodediskdevice"

// Options is what the collector needs beside its configuration.
type Options struct {
	// Connect tells how to reach the API server. It is called only if the collector is enabled.
	Connect func() (*rest.Config, error)
	// Namespace is where the node's object is.
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
			store, err := report.NewStore(config, report.Object{
				Kind:     diskiov1alpha1.GroupVersion().WithKind("NodeDiskDevice"),
				Resource: "nodediskdevices", Namespace: o.Namespace, Name: b.NodeName + objectSuffix, Node: b.NodeName,
			})
			if err != nil {
				return nil, fmt.Errorf("cannot make a client for the API server: %w", err)
			}
			machine := machine{root: hostdisk.Root(b.Config.HostRoot), own: hostdisk.Root(""), mountsOf: hostdisk.MountsOf(b.Config.HostRoot)}
			return newCollector(&b.Config.DiskProfile, b.NodeName, machine, o.Simulate, store, b.Registerer)
		},
	}
}

// machine is where a collector looks for disks.
type machine struct {
	// root has the sys and proc folders of the machine, and mountsOf says whose mounts are the machine's.
	root     fs.FS
	mountsOf string
	// own has the mounts of the agent, which its own folders are found by.
	own fs.FS
}

// newCollector makes the collector of a configuration that is defaulted and valid.
func newCollector(
	c *configv1.DiskProfileConfiguration, node string, m machine, simulate string, store specStore, r prometheus.Registerer,
) (*Collector, error) {
	metrics, err := newMetrics(r)
	if err != nil {
		return nil, err
	}
	collector := &Collector{
		config: c, node: node, machine: m, simulate: simulate, store: store,
		schedule: report.Schedule{Heartbeat: c.Heartbeat.Duration}, metrics: metrics,
	}
	if len(c.Fio.Folders) > 0 && simulate == "" {
		collector.fio = fioprofile.New(fioprofile.Options{
			Program: c.Fio.Program, CacheFile: c.Fio.CacheFile, FileSize: c.Fio.FileSize.Value(),
			StepTime: c.Fio.StepTime.Duration, TimeLimit: c.Fio.TimeLimit.Duration,
			MaxBusy: float64(c.Fio.MaxBusyPercent) / 100, ObserveFor: fioprofile.ObserveFor, Machine: m.root,
			Count: func(o fioprofile.Outcome) { metrics.attempts.WithLabelValues(string(o)).Inc() },
		})
	}
	return collector, nil
}

// metrics are those of the collector. Package doc lists them.
type metrics struct {
	known, unknown    prometheus.Gauge
	reports, attempts *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	disks := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vicinity_agent_diskprofile_disks",
		Help: "Disks of the node, by whether it is known what they can do: known or unknown. The latter are not reported.",
	}, []string{"capacity"})
	reports := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_agent_diskprofile_reports_total",
		Help: "Reports written to the API server, by what caused them: start, change or heartbeat.",
	}, []string{"reason"})
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_agent_diskprofile_fio_attempts_total",
		Help: "Attempts to measure a disk with fio, by how they ended: done, busy or failed.",
	}, []string{"outcome"})
	if err := errors.Join(r.Register(disks), r.Register(reports), r.Register(attempts)); err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the diskprofile collector: %w", err)
	}
	for _, reason := range []string{report.ReasonStart, report.ReasonChange, report.ReasonHeartbeat} {
		reports.WithLabelValues(reason)
	}
	for _, outcome := range fioprofile.Outcomes() {
		attempts.WithLabelValues(string(outcome))
	}
	return &metrics{
		known: disks.WithLabelValues("known"), unknown: disks.WithLabelValues("unknown"), reports: reports, attempts: attempts,
	}, nil
}
