package mlpscore

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
)

const metricPrefix = "vicinity_mlpscore_"

// Causes of falling back.
const (
	causeDeadline = "deadline"
	causeNoNumber = "no_number"
	causeServer   = "server"
)

// Metrics of the plugin; one instance serves all profiles.
type Metrics struct {
	duration   prometheus.Histogram
	candidates prometheus.Counter
	drift      []prometheus.Counter // by feature
	fallbacks  *prometheus.CounterVec
	shadow     *prometheus.CounterVec
	malformed  prometheus.Counter
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// NewMetrics registers the plugin's metrics with reg.
func NewMetrics(reg registerer) (*Metrics, error) {
	drift := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricPrefix + "feature_out_of_range_total",
		Help: "Values of a feature that lie outside what the model has seen in training, by feature.",
	}, []string{"feature"})
	m := &Metrics{
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: metricPrefix + "prescore_duration_seconds", Help: "Time that evaluating the network for a pod's feasible nodes took.",
			Buckets: prometheus.ExponentialBuckets(50e-6, 2, 12),
		}),
		candidates: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "evaluated_candidates_total",
			Help: "Nodes and devices that the network was evaluated for; others were known already.",
		}),
		fallbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "fallbacks_total",
			Help: "Pods (cause deadline or server) and nodes (cause no_number) that the fallback scored, by cause.",
		}, []string{"cause"}),
		shadow: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricPrefix + "shadow_decisions_total",
			Help: "Pods placed in mode Shadow, by whether the network would have chosen the same node.",
		}, []string{"same"}),
		malformed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricPrefix + "malformed_pods_total", Help: "Attempts with a pod whose demand for GPUs cannot be read.",
		}),
	}
	for _, f := range feature.Schema() {
		m.drift = append(m.drift, drift.WithLabelValues(f.Name))
	}
	for _, c := range []prometheus.Collector{m.duration, m.candidates, drift, m.fallbacks, m.shadow, m.malformed} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of plugin %s: %w", Name, err)
		}
	}
	return m, nil
}

func (m *Metrics) took(d time.Duration)  { m.duration.Observe(d.Seconds()) }
func (m *Metrics) fallback(cause string) { m.fallbacks.WithLabelValues(cause).Inc() }

func (m *Metrics) compared(same bool) {
	if same {
		m.shadow.WithLabelValues("true").Inc()
	} else {
		m.shadow.WithLabelValues("false").Inc()
	}
}

// evaluated counts candidates, and those of their features that the model has not seen the like of.
func (m *Metrics) evaluated(model *mlp.Model, rows []float32) {
	m.candidates.Add(float64(len(rows) / feature.Inputs))
	if len(model.Lowest) != feature.Inputs {
		return
	}
	var outside [feature.Count]int
	for begin := 0; begin < len(rows); begin += feature.Inputs {
		row := rows[begin : begin+feature.Inputs]
		for i := range feature.Count {
			// Roundings differ between machines in the last place.
			const slack = 1e-4
			if row[i] < model.Lowest[i]-slack || row[i] > model.Highest[i]+slack {
				outside[i]++
			}
		}
	}
	for i, n := range outside {
		if n > 0 {
			m.drift[i].Add(float64(n))
		}
	}
}
