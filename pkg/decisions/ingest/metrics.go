package ingest

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

type metrics struct {
	records  *prometheus.CounterVec
	refused  *prometheus.CounterVec
	events   prometheus.Counter
	failures prometheus.Counter
	duration prometheus.Histogram
}

// newMetrics registers the metrics of ingest.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vicinity_sniffer_records_total",
			Help: "Decision records that were taken: result is stored or duplicate (stored before).",
		}, []string{"result"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vicinity_sniffer_refused_records_total",
			Help: "Decision records that were refused: reason is invalid, newer-version (update the service) or too-large.",
		}, []string{"reason"}),
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vicinity_sniffer_events_total",
			Help: "Events of the predecessor's clients and of lifecycle hooks that were stored.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vicinity_sniffer_store_failures_total",
			Help: "Batches that could not be stored; their senders keep them and try again.",
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "vicinity_sniffer_store_duration_seconds",
			Help:    "How long storing a batch of decision records took.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
	}
	for _, c := range []prometheus.Collector{m.records, m.refused, m.events, m.failures, m.duration} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of ingest: %w", err)
		}
	}
	// Present from the start, so that a rate can be taken of the first one.
	for _, result := range []string{"stored", "duplicate"} {
		m.records.WithLabelValues(result)
	}
	return m, nil
}

func (m *metrics) saved(saved store.Saved, took time.Duration) {
	m.records.WithLabelValues("stored").Add(float64(saved.Inserted))
	m.records.WithLabelValues("duplicate").Add(float64(saved.Duplicates))
	m.duration.Observe(took.Seconds())
}
