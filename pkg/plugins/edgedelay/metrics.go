package edgedelay

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// Metrics of the plugin; one instance serves all profiles.
type Metrics struct {
	nodes [verdicts]prometheus.Counter
	pods  *prometheus.CounterVec
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

const metricPrefix = "vicinity_edgedelay_"

// Why a pod was rejected before any node was looked at.
const (
	podMalformed = "malformed"
	podWaits     = "waits"
)

// NewMetrics registers the plugin's metrics, and those of the matrix in store, with reg.
func NewMetrics(reg registerer, store *delay.Store, now clock.PassiveClock) (*Metrics, error) {
	nodes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricPrefix + "filtered_nodes_total",
		Help: "Nodes that Filter looked at, by what came of it: within, too-far, cut (no answer), unknown, unmeasured (and " +
			"estimates are refused), uncertain (estimate and error exceed the bound), other-cluster (clustering Layers), not-cloud.",
	}, []string{"result"})
	m := &Metrics{
		pods: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "rejected_attempts_total",
			Help: "Scheduling attempts that ended before any node was looked at: malformed (bounds that cannot be read) or " +
				"waits (for what a bound refers to).",
		}, []string{"reason"}),
	}
	for v, result := range [verdicts]string{
		within: "within", tooFar: "too-far", cut: "cut", unknown: "unknown", unmeasured: "unmeasured", uncertain: "uncertain",
		otherCluster: "other-cluster", notCloud: "not-cloud",
	} {
		m.nodes[v] = nodes.WithLabelValues(result)
	}
	for _, c := range []prometheus.Collector{nodes, m.pods, newMatrix(store, now)} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of plugin %s: %w", Name, err)
		}
	}
	return m, nil
}

func (m *Metrics) rejectedPods(reason string) { m.pods.WithLabelValues(reason).Inc() }

// matrix reports on a store when metrics are read.
type matrix struct {
	store           *delay.Store
	clock           clock.PassiveClock
	pairs, estimate *prometheus.Desc
}

func newMatrix(store *delay.Store, now clock.PassiveClock) *matrix {
	return &matrix{
		store: store, clock: now,
		pairs: prometheus.NewDesc(metricPrefix+"pairs",
			"Ordered pairs of nodes with a round-trip time, by the source that counts and whether it is fresh or stale.",
			[]string{"source", "age"}, nil),
		estimate: prometheus.NewDesc(metricPrefix+"estimation_error_ratio",
			"Mean relative error of the estimates of those round-trip times that are measured.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *matrix) Describe(descs chan<- *prometheus.Desc) {
	descs <- m.pairs
	descs <- m.estimate
}

// Collect implements prometheus.Collector.
func (m *matrix) Collect(metrics chan<- prometheus.Metric) {
	stats := m.store.Stats(m.clock.Now())
	for class, pairs := range stats.Pairs {
		age := "fresh"
		if class.Stale {
			age = "stale"
		}
		metrics <- prometheus.MustNewConstMetric(m.pairs, prometheus.GaugeValue, float64(pairs), class.Source.String(), age)
	}
	if stats.HasError {
		metrics <- prometheus.MustNewConstMetric(m.estimate, prometheus.GaugeValue, stats.MeanError)
	}
}
