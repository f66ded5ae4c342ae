package diskprofile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/klog/v2"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/disksim"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/fioprofile"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// specStore is where the node's disks are described. Its errors say what to do.
type specStore interface {
	// Read fills in the object; false if there is none.
	Read(ctx context.Context, into any) (bool, error)
	// WriteSpec replaces the spec, and creates the object if need be.
	WriteSpec(ctx context.Context, object any) error
	// Close releases the connection.
	Close()
}

// Collector is the diskprofile collector. The package comment says what it does.
type Collector struct {
	config   *configv1.DiskProfileConfiguration
	node     string
	machine  machine
	simulate string
	store    specStore
	schedule report.Schedule
	metrics  *metrics
	fio      *fioprofile.Profiler // nil if nothing is to be measured

	// inherited is what the report of an earlier agent said.
	inherited    map[string]diskiov1alpha1.DiskDevice
	hasInherited bool
	reported     map[string]diskiov1alpha1.DiskDevice
	// logged are the disks of unknown capacity that the log has been told of.
	logged []string
}

// Name implements agent.Collector.
func (c *Collector) Name() string { return Name }

// Collect implements agent.Collector.
func (c *Collector) Collect(ctx context.Context, now time.Time) error {
	if err := c.inherit(ctx, now); err != nil {
		return err
	}
	devices, err := c.devices(ctx, now)
	if err != nil {
		return err
	}
	if devices == nil || !c.schedule.MayTry(now) {
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
	c.metrics.reports.WithLabelValues(reason).Inc()
	klog.FromContext(ctx).V(2).Info("Reported the disks", "reason", reason, "disks", len(devices))
	return nil
}

// Close implements agent.Collector.
func (c *Collector) Close(ctx context.Context) error {
	c.store.Close()
	if c.fio == nil {
		return nil
	}
	return c.fio.Close(ctx)
}

// inherit reads what an earlier agent reported, once.
func (c *Collector) inherit(ctx context.Context, now time.Time) error {
	if c.hasInherited || c.simulate != "" {
		return nil
	}
	if !c.schedule.MayTry(now) {
		return c.schedule.Failure()
	}
	object := &diskiov1alpha1.NodeDiskDevice{}
	if _, err := c.store.Read(ctx, object); err != nil {
		c.schedule.Attempt(now)
		return c.schedule.Done(now, fmt.Errorf("cannot read the report of an earlier agent: %w", err))
	}
	c.inherited, c.hasInherited = object.Spec.Devices, true
	return nil
}

// devices returns what is to be reported, nil while that is not known.
func (c *Collector) devices(ctx context.Context, now time.Time) (map[string]diskiov1alpha1.DiskDevice, error) {
	if c.simulate != "" {
		disks, err := disksim.Load(c.simulate)
		if err != nil {
			return nil, err
		}
		c.metrics.known.Set(float64(len(disks.Devices)))
		return disks.Devices, nil
	}
	inventory, err := hostdisk.Discover(c.machine.root, c.machine.mountsOf)
	if err != nil {
		return nil, err
	}
	table := inTable(c.config.Capacities)
	targets, err := c.targets(ctx, inventory, table)
	if err != nil {
		return nil, err
	}
	known := map[string]fioprofile.Capacity{}
	if len(targets) > 0 {
		if known, err = c.fio.Known(ctx, now, targets); err != nil {
			return nil, err
		}
	}
	found := describe(inventory, c.config.DefaultDiskPath, table, measured(known), inReport(c.inherited))
	c.metrics.known.Set(float64(len(found.devices) + found.omitted))
	c.metrics.unknown.Set(float64(len(found.unknown)))
	beingMeasured := func(disk *hostdisk.Disk) bool {
		return slices.ContainsFunc(targets, func(t fioprofile.Disk) bool { return t.ID == disk.ID })
	}
	c.logUnknown(ctx, found.unknown, beingMeasured)
	disk := found.defaultUnknown
	switch {
	case disk == nil:
		return found.devices, nil
	case beingMeasured(disk):
		return nil, nil
	}
	return nil, fmt.Errorf("nobody says what the node's default disk %s can do: add an entry to diskProfile.capacities with "+
		"vendor %q and model %q, or with device %q, or have it measured (diskProfile.fio)", disk.Name, disk.Vendor, disk.Model, disk.ID)
}

// targets returns the disks that are to be measured: those of the folders, unless the table or an earlier report tells.
func (c *Collector) targets(ctx context.Context, inventory *hostdisk.Inventory, table source) ([]fioprofile.Disk, error) {
	if c.fio == nil {
		return nil, nil
	}
	mounts, err := hostdisk.Discover(c.machine.own, hostdisk.Self)
	if err != nil {
		return nil, err
	}
	var targets []fioprofile.Disk
	for _, folder := range c.config.Fio.Folders {
		behind := mounts.Behind(folder)
		if len(behind) != 1 {
			klog.FromContext(ctx).V(2).Info("A folder is not on one disk, which is therefore not measured", "folder", folder, "disks", len(behind))
			continue
		}
		i := slices.IndexFunc(inventory.Disks, func(d hostdisk.Disk) bool { return d.ID == behind[0].ID })
		if i < 0 || slices.ContainsFunc(targets, func(t fioprofile.Disk) bool { return t.ID == behind[0].ID }) {
			continue
		}
		disk := &inventory.Disks[i]
		if _, ok := ask(disk, []source{table, inReport(c.inherited)}); !ok {
			targets = append(targets, fioprofile.Disk{
				ID: disk.ID, Name: disk.Name, Vendor: disk.Vendor, Model: disk.Model, SizeBytes: disk.SizeBytes, Folder: folder,
			})
		}
	}
	return targets, nil
}

// logUnknown says once which disks are left out, but for those that will not be for long.
func (c *Collector) logUnknown(ctx context.Context, unknown []hostdisk.Disk, except func(*hostdisk.Disk) bool) {
	var names []string
	for i := range unknown {
		if !except(&unknown[i]) {
			names = append(names, unknown[i].Name)
		}
	}
	if slices.Equal(names, c.logged) {
		return
	}
	c.logged = names
	if len(names) > 0 {
		klog.FromContext(ctx).Info("Disks of which nobody says what they can do are not reported: "+
			"add entries to diskProfile.capacities, or have them measured (diskProfile.fio)", "disks", names)
	}
}
