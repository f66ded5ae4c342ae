package tracesink

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// Metrics of all sinks.
type Metrics struct {
	written *prometheus.CounterVec
	lost    *prometheus.CounterVec
	spooled prometheus.Gauge
	acked   prometheus.Counter
	corrupt prometheus.Counter
}

const metricPrefix = "vicinity_recorder_"

// NewMetrics registers the metrics with reg.
func NewMetrics(reg registerer) (*Metrics, error) {
	m := &Metrics{
		written: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "sink_records_total", Help: "Records that a sink has taken.",
		}, []string{"sink"}),
		lost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "sink_lost_total",
			Help: "Records that a sink has lost: the disk or its queue was full, or the receiver was away or refused them.",
		}, []string{"sink", "reason"}),
		spooled: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: metricPrefix + "spool_bytes", Help: "Size of what waits on disk for the service.",
		}),
		acked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "acknowledged_total", Help: "Records that the service has acknowledged.",
		}),
		corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "spool_corrupt_total", Help: "Places in the spool that could not be read and were passed over.",
		}),
	}
	for _, c := range []prometheus.Collector{m.written, m.lost, m.spooled, m.acked, m.corrupt} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of the sinks: %w", err)
		}
	}
	return m, nil
}

// health logs when a sink begins to fail and when it works again, not each time in between.
type health struct {
	failing bool
}

// changed reports whether err is news.
func (h *health) changed(err error) bool {
	before := h.failing
	h.failing = err != nil
	return before != h.failing
}
