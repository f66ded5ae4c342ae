package sniffer

import (
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const metricPrefix = "vicinity_recorder_"

// Metrics of the recorder.
type Metrics struct {
	records  *prometheus.CounterVec
	dropped  prometheus.Counter
	victims  prometheus.Counter
	margin   prometheus.Histogram
	rejected *prometheus.CounterVec
	queue    atomic.Pointer[func() float64]
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// NewMetrics registers the recorder's metrics with reg.
func NewMetrics(reg registerer) (*Metrics, error) {
	m := &Metrics{
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "records_total", Help: "Recorded scheduling attempts, by how they ended and how the node was found.",
		}, []string{"outcome", "found"}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "dropped_total", Help: "Records that were dropped because the queue was full. Each leaves a gap in the sequence.",
		}),
		victims: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "victims_total", Help: "Preempted pods that were connected with the pod that they had to go for.",
		}),
		margin: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: metricPrefix + "margin_points", Help: "By how many weighted points the chosen node was ahead of the next one.",
			Buckets: []float64{0, 1, 10, 50, 100, 500, 1000, 5000},
		}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "nodes_rejected_total", Help: "Nodes that were rejected, by the first plugin that did.",
		}, []string{"plugin"}),
	}
	queue := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: metricPrefix + "queue_length", Help: "Records that wait to be written.",
	}, func() float64 {
		if length := m.queue.Load(); length != nil {
			return (*length)()
		}
		return 0
	})
	for _, c := range []prometheus.Collector{m.records, m.dropped, m.victims, m.margin, m.rejected, queue} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of plugin %s: %w", Name, err)
		}
	}
	return m, nil
}

func (m *Metrics) watch(queueLength func() float64) { m.queue.Store(&queueLength) }

// recorded counts a record that is handed to the sinks.
func (m *Metrics) recorded(r *trace.Record) {
	if r.Kind != trace.KindAttempt {
		return
	}
	m.records.WithLabelValues(string(r.Outcome), string(r.Found)).Inc()
	if r.Scores != nil && r.Scores.RunnerUp != "" {
		m.margin.Observe(float64(r.Scores.Margin))
	}
	for i := range r.Rejections {
		m.rejected.WithLabelValues(r.Rejections[i].Plugin).Add(float64(r.Rejections[i].Nodes))
	}
}
