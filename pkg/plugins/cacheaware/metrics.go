package cacheaware

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// Metrics of the plugin; one instance serves all profiles.
type Metrics struct {
	lookups          *prometheus.CounterVec
	staleReplicas    prometheus.Counter
	placementAge     prometheus.Histogram
	gatewayPods      prometheus.Histogram
	placements       *prometheus.CounterVec
	warmHits, misses prometheus.Counter
	bytesToFetch     prometheus.Counter
	warmingDropped   prometheus.Counter
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

const metricPrefix = "vicinity_cacheaware_"

// NewMetrics registers the plugin's metrics with reg.
func NewMetrics(reg registerer) (*Metrics, error) {
	reads := counters("dataset_reads_total",
		"Datasets of placed pods, by whether the pod's node holds or serves some of it (hit) or not (miss).", "result")
	m := &Metrics{
		lookups: counters("dataset_lookups_total",
			"Datasets looked up in scheduling attempts, by whether a usable node is known that holds or serves it.", "placed"),
		staleReplicas: counter("stale_replicas_total", "Replicas left out because their news were too old."),
		placementAge: histogram("placement_age_seconds",
			"Age of the newest news of a dataset when a pod asked for it, where the source tells.", prometheus.ExponentialBuckets(1, 2, 12)),
		gatewayPods: histogram("gateway_load_pods",
			"Bound pods for each gateway of a dataset when a pod asked for it.", prometheus.ExponentialBuckets(1, 2, 10)),
		placements: counters("placements_total",
			"Datasets of placed pods, by the nearest tier shared with a replica: node, a label key, or nowhere.", "tier"),
		warmHits: reads.WithLabelValues("hit"),
		misses:   reads.WithLabelValues("miss"),
		bytesToFetch: counter("expected_fetch_bytes_total",
			"Bytes of datasets of known size that placed pods are expected to fetch from elsewhere."),
		warmingDropped: counter("warming_dropped_total", "Nodes expected to become warm that were not remembered for lack of room."),
	}
	for _, c := range []prometheus.Collector{
		reads, m.lookups, m.staleReplicas, m.placementAge, m.gatewayPods, m.placements, m.bytesToFetch, m.warmingDropped,
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of plugin %s: %w", Name, err)
		}
	}
	return m, nil
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: metricPrefix + name, Help: help})
}

func counters(name, help, label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricPrefix + name, Help: help}, []string{label})
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: metricPrefix + name, Help: help, Buckets: buckets})
}

func (m *Metrics) lookedUp(placed bool) {
	if placed {
		m.lookups.WithLabelValues("true").Inc()
	} else {
		m.lookups.WithLabelValues("false").Inc()
	}
}

// aged records how old the newest statement about a dataset is.
func (m *Metrics) aged(now time.Time, d locality.Dataset, stale int) {
	m.staleReplicas.Add(float64(stale))
	var newest time.Time
	for _, r := range d.Replicas {
		if r.Observed.After(newest) {
			newest = r.Observed
		}
	}
	if !newest.IsZero() {
		m.placementAge.Observe(max(0, now.Sub(newest).Seconds()))
	}
}

func (m *Metrics) gatewayLoad(pods float64) { m.gatewayPods.Observe(pods) }

// placed records a pod's datasets, each with its term in the score of the pod's node, and how many are nowhere.
func (m *Metrics) placed(tiers locality.Tiers, reaches []*locality.Reach, terms []locality.Term, nowhere int) {
	m.misses.Add(float64(nowhere))
	m.placements.WithLabelValues("nowhere").Add(float64(nowhere))
	for i, term := range terms {
		if term.From == 0 {
			m.warmHits.Inc()
		} else {
			m.misses.Inc()
		}
		m.placements.WithLabelValues(tierName(tiers, term.From)).Inc()
		m.bytesToFetch.Add((1 - term.Value) * reaches[i].SizeBytes())
	}
}

func tierName(tiers locality.Tiers, at locality.Distance) string {
	switch {
	case at == 0:
		return "node"
	case int(at) <= len(tiers):
		return tiers[at-1].LabelKey
	default:
		return "nowhere"
	}
}
