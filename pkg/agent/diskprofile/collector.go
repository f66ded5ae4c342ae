package diskprofile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/disksim"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// Name is the collector's name in the configuration.
const Name = configv1.DiskProfileCollector

const objectSuffix = "-nodediskdevice"

// Options is what the collector needs beside its configuration.
type Options struct {
	// Connect tells how to reach the API server. It is called only if the collector is enabled.
	Connect func() (*rest.Config, error)
	// Machine is the root of the machine's file system.
	Machine fs.FS
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
			return newCollector(&b.Config.DiskProfile, b.NodeName, o, store, b.Registerer)
		},
	}
}

// specStore is where the node's disks are described. Its errors say what to do.
type specStore interface {
	// WriteSpec replaces the spec, and creates the object if need be.
	WriteSpec(ctx context.Context, object any) error
	// Close releases the connection.
	Close()
}

// Collector is the diskprofile collector. The package comment says what it does.
type Collector struct {
	config            *configv1.DiskProfileConfiguration
	node              string
	machine           fs.FS
	simulate          string
	store             specStore
	schedule          report.Schedule
	known, unknown    prometheus.Gauge
	reports           *prometheus.CounterVec
	reported          map[string]diskiov1alpha1.DiskDevice
	unknownWhenLogged int
}

// newCollector makes the collector of a configuration that is defaulted and valid.
func newCollector(
	c *configv1.DiskProfileConfiguration, node string, o Options, store specStore, r prometheus.Registerer,
) (*Collector, error) {
	disks := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vicinity_agent_diskprofile_disks",
		Help: "Disks of the node, by whether it is known what they can do: known or unknown. The latter are not reported.",
	}, []string{"capacity"})
	reports := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_agent_diskprofile_reports_total",
		Help: "Reports written to the API server, by what caused them: start, change or heartbeat.",
	}, []string{"reason"})
	if err := errors.Join(r.Register(disks), r.Register(reports)); err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the diskprofile collector: %w", err)
	}
	for _, reason := range []string{report.ReasonStart, report.ReasonChange, report.ReasonHeartbeat} {
		reports.WithLabelValues(reason)
	}
	return &Collector{
		config: c, node: node, machine: o.Machine, simulate: o.Simulate, store: store,
		schedule: report.Schedule{Heartbeat: c.Heartbeat.Duration},
		known:    disks.WithLabelValues("known"), unknown: disks.WithLabelValues("unknown"), reports: reports,
	}, nil
}

// Name implements agent.Collector.
func (c *Collector) Name() string { return Name }

// Collect implements agent.Collector.
func (c *Collector) Collect(ctx context.Context, now time.Time) error {
	devices, err := c.devices(ctx)
	if err != nil {
		return err
	}
	if !c.schedule.MayTry(now) {
		return c.schedule.Failure()
	}
	reason := c.schedule.Reason(now, !equality.Semantic.DeepEqual(c.reported, devices))
	if reason == "" {
		return nil
	}
	c.schedule.Attempt(now)
	object := &diskiov1alpha1.NodeDiskDevice{Spec: diskiov1alpha1.NodeDiskDeviceSpec{NodeName: c.node, Devices: devices}}
	if err := c.schedule.Done(now, c.store.WriteSpec(ctx, object)); err != nil {
		return fmt.Errorf("cannot report the disks: %w", err)
	}
	c.reported = devices
	c.reports.WithLabelValues(reason).Inc()
	klog.FromContext(ctx).V(2).Info("Reported the disks", "reason", reason, "disks", len(devices))
	return nil
}

// Close implements agent.Collector.
func (c *Collector) Close(context.Context) error {
	c.store.Close()
	return nil
}

// devices returns what is to be reported.
func (c *Collector) devices(ctx context.Context) (map[string]diskiov1alpha1.DiskDevice, error) {
	if c.simulate != "" {
		disks, err := disksim.Load(c.simulate)
		if err != nil {
			return nil, err
		}
		c.known.Set(float64(len(disks.Devices)))
		return disks.Devices, nil
	}
	devices, unknown, err := describe(c.machine, c.config)
	c.known.Set(float64(len(devices)))
	c.unknown.Set(float64(len(unknown)))
	if len(unknown) != c.unknownWhenLogged {
		c.unknownWhenLogged = len(unknown)
		klog.FromContext(ctx).Info("Disks of which nobody says what they can do are not reported: "+
			"add entries to diskProfile.capacities", "disks", unknown)
	}
	return devices, err
}
