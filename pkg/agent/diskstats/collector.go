package diskstats

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/disksim"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// Collector is the diskstats collector. The package comment says what it does.
type Collector struct {
	machine fs.FS
	// simulate is a file of disks that are reported instead of the machine's, or empty.
	simulate         string
	window           window
	objects          objects
	schedule         report.Schedule
	thresholdPercent int32
	metrics          *metrics

	// devices is what the node's NodeDiskDevice said at devicesAt; nil if there is none.
	devices   map[string]diskiov1alpha1.DiskDevice
	devicesAt time.Time

	// reported is what the latest report said, and generation what it belongs to.
	reported   map[string]diskiov1alpha1.IOBandwidth
	generation int64
}

// Name implements agent.Collector.
func (c *Collector) Name() string { return Name }

// Collect implements agent.Collector: it takes a sample, then reports if there is news.
func (c *Collector) Collect(ctx context.Context, now time.Time) error {
	if c.simulate != "" {
		return c.reportSimulated(ctx, now)
	}
	counters, err := hostdisk.ReadCounters(c.machine)
	if err != nil {
		return err
	}
	// What follows is worth having, but a report can do without.
	pods, podsErr := hostdisk.ReadPods(c.machine)
	pressure, hasPressure, pressureErr := hostdisk.ReadPressure(c.machine)
	err = errors.Join(podsErr, pressureErr)
	c.window.add(sample{now, counters, pods})
	used := c.window.usage()
	c.metrics.observe(c.devices, used, pressure)
	c.metrics.observePods(c.devices, c.window.podUsage(), len(pods))
	if !c.window.ready() {
		return err
	}
	return errors.Join(err, c.report(ctx, now, used, pressure, hasPressure))
}

// Close implements agent.Collector.
func (c *Collector) Close(context.Context) error {
	c.objects.Close()
	return nil
}

func (c *Collector) report(ctx context.Context, now time.Time, used map[string]usage, p hostdisk.Pressure, hasPressure bool) error {
	if !c.schedule.MayTry(now) {
		return c.schedule.Failure()
	}
	c.schedule.Attempt(now)
	if err := c.readDevices(ctx, now); err != nil {
		return c.schedule.Done(now, err)
	}
	status := diskiov1alpha1.NodeDiskIOStatsStatus{
		AllocableBandwidth: allocable(c.devices, demands(c.devices, used)),
		Measured:           measured(c.devices, used),
		ObservedPods:       c.window.seen(),
	}
	if hasPressure {
		status.PressurePartsPerMillion = pressures(c.devices, used, p.Some)
	}
	return c.send(ctx, now, status)
}

func (c *Collector) reportSimulated(ctx context.Context, now time.Time) error {
	if !c.schedule.MayTry(now) {
		return c.schedule.Failure()
	}
	c.schedule.Attempt(now)
	disks, err := disksim.Load(c.simulate)
	if err != nil {
		return c.schedule.Done(now, err)
	}
	c.devices = disks.Devices
	used := simulated(c.devices, disks.Used)
	return c.send(ctx, now, diskiov1alpha1.NodeDiskIOStatsStatus{
		AllocableBandwidth: allocable(c.devices, demands(c.devices, used)),
		Measured:           measured(c.devices, used),
	})
}

// readDevices asks which disks there are, once a heartbeat.
func (c *Collector) readDevices(ctx context.Context, now time.Time) error {
	if c.devices != nil && now.Sub(c.devicesAt) < c.schedule.Heartbeat {
		return nil
	}
	found, err := c.objects.Devices(ctx)
	if err != nil {
		return err
	}
	if found == nil || len(found.Devices) == 0 {
		c.devices = nil
		return errors.New("nobody has described the disks of this node: switch on the collector diskprofile, " +
			"or create the node's NodeDiskDevice")
	}
	c.devices, c.devicesAt = found.Devices, now
	return nil
}

// send writes the status if that is due.
func (c *Collector) send(ctx context.Context, now time.Time, status diskiov1alpha1.NodeDiskIOStatsStatus) error {
	generation, err := c.objects.Generation(ctx)
	if err != nil {
		return c.schedule.Done(now, err)
	}
	news := generation != c.generation || changed(c.reported, status.AllocableBandwidth, c.devices, c.thresholdPercent)
	reason := c.schedule.Reason(now, news)
	if reason == "" {
		return nil
	}
	if generation == 0 {
		// The object is about to be created, and then has its first generation.
		generation = 1
	}
	status.ObservedAt, status.ObservedGeneration = metav1.NewTime(now), &generation
	if err := c.schedule.Done(now, c.objects.Write(ctx, status)); err != nil {
		return fmt.Errorf("cannot report what the disks have left: %w", err)
	}
	c.reported, c.generation = status.AllocableBandwidth, generation
	c.metrics.reports.WithLabelValues(reason).Inc()
	klog.FromContext(ctx).V(4).Info("Reported what the disks have left", "reason", reason, "disks", len(c.reported))
	return nil
}
