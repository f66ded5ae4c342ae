package agent

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// The results of a round, as the metrics call them.
const (
	resultSuccess = "success"
	resultError   = "error"
	resultTimeout = "timeout"
	resultPanic   = "panic"
)

const labelCollector = "collector"

// metrics are those of all collectors of one Runner.
type metrics struct {
	rounds      *prometheus.CounterVec
	missed      *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	lastSuccess *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	labels := []string{labelCollector}
	m := &metrics{
		rounds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vicinity_agent_collector_rounds_total",
			Help: "Rounds that a collector has ended, by result: success, error, timeout or panic.",
		}, []string{labelCollector, "result"}),
		missed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vicinity_agent_collector_missed_rounds_total",
			Help: "Rounds left out because the one before took longer than the interval.",
		}, labels),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vicinity_agent_collector_round_duration_seconds",
			Help: "How long the rounds of a collector took, whatever their result.",
			// From reading a file in /proc, 1 ms, to the longest default timeout, 30 s.
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, labels),
		lastSuccess: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vicinity_agent_collector_last_success_timestamp_seconds",
			Help: "When the latest successful round of a collector ended, in seconds since 1970; 0 if there was none.",
		}, labels),
	}
	err := errors.Join(r.Register(m.rounds), r.Register(m.missed), r.Register(m.duration), r.Register(m.lastSuccess))
	if err != nil {
		return nil, fmt.Errorf("cannot register the collector metrics: %w", err)
	}
	return m, nil
}

// collectorMetrics are those of one collector.
type collectorMetrics struct {
	rounds      map[string]prometheus.Counter // by result
	missed      prometheus.Counter
	duration    prometheus.Observer
	lastSuccess prometheus.Gauge
}

// forCollector creates every series of the named collector, so that alerts see 0 and not nothing.
func (m *metrics) forCollector(name string) collectorMetrics {
	rounds := make(map[string]prometheus.Counter)
	for _, result := range []string{resultSuccess, resultError, resultTimeout, resultPanic} {
		rounds[result] = m.rounds.WithLabelValues(name, result)
	}
	return collectorMetrics{
		rounds:      rounds,
		missed:      m.missed.WithLabelValues(name),
		duration:    m.duration.WithLabelValues(name),
		lastSuccess: m.lastSuccess.WithLabelValues(name),
	}
}
