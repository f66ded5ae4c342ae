package diskio

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// Metrics of the plugin; one instance serves all profiles.
type Metrics struct {
	refusals  prometheus.Counter
	rejection [rejections]prometheus.Counter

	mu       sync.Mutex
	profiles map[string]observed
}

// observed is what a profile's plugin sees, by its own arguments.
type observed struct {
	disks      Disks
	models     ChangingModels
	clock      clock.PassiveClock
	staleAfter time.Duration
}

// rejection is why a node was rejected.
type rejection int

// The shortages of blockio come first, in their order.
const (
	rejectedUndescribed = rejection(blockio.ShortOfWriteIOPS) + iota + 1
	rejectedNoDefault
	rejectedByModel
	rejections
)

func (r rejection) String() string {
	switch r {
	case rejection(blockio.ShortOfRead):
		return "read"
	case rejection(blockio.ShortOfWrite):
		return "write"
	case rejection(blockio.ShortOfTotal):
		return "total"
	case rejection(blockio.ShortOfReadIOPS):
		return "readIOPS"
	case rejection(blockio.ShortOfWriteIOPS):
		return "writeIOPS"
	case rejectedUndescribed:
		return "undescribed"
	case rejectedNoDefault:
		return "noDefaultDisk"
	default:
		return "model"
	}
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

const metricPrefix = "vicinity_diskio_"

// NewMetrics registers the plugin's metrics with reg.
func NewMetrics(reg registerer) (*Metrics, error) {
	m := &Metrics{profiles: map[string]observed{}}
	m.refusals = prometheus.NewCounter(prometheus.CounterOpts{
		Name: metricPrefix + "unreadable_requests_total",
		Help: "Scheduling attempts of pods that ended because the annotation with their request could not be read.",
	})
	byReason := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricPrefix + "rejected_nodes_total",
		Help: "Nodes rejected for a pod: what their disk has too little of (read, write, total, readIOPS, writeIOPS), " +
			"or that nobody describes their disks (undescribed), none of them is the default one (noDefaultDisk), " +
			"or the disk's model does not apply to the pod (model).",
	}, []string{"reason"})
	for r := range rejections {
		if r != rejection(blockio.Enough) {
			m.rejection[r] = byReason.WithLabelValues(r.String()) // also so that the first one is an increase
		}
	}
	for _, c := range []prometheus.Collector{m.refusals, byReason, newInventory(m)} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of plugin %s: %w", Name, err)
		}
	}
	return m, nil
}

func (m *Metrics) refused() { m.refusals.Inc() }

func (m *Metrics) rejected(r rejection) { m.rejection[r].Inc() }

func (m *Metrics) short(s blockio.Shortage) { m.rejected(rejection(s)) }

// observe adds a profile to what is counted when metrics are read.
func (m *Metrics) observe(profile string, o observed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.profiles[profile] = o
}

// inventory counts nodes and kinds of disks when metrics are read: a report becomes stale without an event.
type inventory struct {
	metrics      *Metrics
	nodes, kinds *prometheus.Desc
}

func newInventory(m *Metrics) *inventory {
	return &inventory{
		metrics: m,
		nodes: prometheus.NewDesc(metricPrefix+"nodes",
			"Nodes with described disks by their report: Fresh, Stale, or None where nothing was measured.",
			[]string{"profile", "report"}, nil),
		kinds: prometheus.NewDesc(metricPrefix+"disk_kinds",
			"Kinds of disks (vendor and model) in the cluster, by whether a disk model is Loaded for them; "+
				"the others get the default one (Default).",
			[]string{"profile", "model"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *inventory) Describe(to chan<- *prometheus.Desc) {
	to <- c.nodes
	to <- c.kinds
}

// Collect implements prometheus.Collector.
func (c *inventory) Collect(to chan<- prometheus.Metric) {
	c.metrics.mu.Lock()
	defer c.metrics.mu.Unlock()
	for profile, o := range c.metrics.profiles {
		nodes, now := map[blockio.ReportState]int{}, o.clock.Now()
		for _, name := range o.disks.DiskNodes() {
			if disks := o.disks.Disks(name); disks != nil {
				nodes[disks.ReportAt(now, o.staleAfter)]++
			}
		}
		for _, state := range []blockio.ReportState{blockio.NoReport, blockio.StaleReport, blockio.FreshReport} {
			to <- prometheus.MustNewConstMetric(c.nodes, prometheus.GaugeValue, float64(nodes[state]), profile, state.String())
		}
		loaded, kinds := 0, o.disks.DiskKinds()
		for _, kind := range kinds {
			if o.models.Known(kind) {
				loaded++
			}
		}
		to <- prometheus.MustNewConstMetric(c.kinds, prometheus.GaugeValue, float64(loaded), profile, "Loaded")
		to <- prometheus.MustNewConstMetric(c.kinds, prometheus.GaugeValue, float64(len(kinds)-loaded), profile, "Default")
	}
}
