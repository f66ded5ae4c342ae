package cacheaware

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics of the plugin; one instance serves all profiles.
type Metrics struct {
	placed, unplaced prometheus.Counter
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// NewMetrics registers the plugin's metrics with reg.
func NewMetrics(reg registerer) (*Metrics, error) {
	lookups := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_cacheaware_dataset_lookups_total",
		Help: "Datasets of pods looked up in scheduling attempts, by whether a node is known that serves or holds it.",
	}, []string{"placed"})
	if err := reg.Register(lookups); err != nil {
		return nil, fmt.Errorf("registering metrics of plugin %s: %w", Name, err)
	}
	return &Metrics{placed: lookups.WithLabelValues("true"), unplaced: lookups.WithLabelValues("false")}, nil
}

func (m *Metrics) count(placed, unplaced int) {
	m.placed.Add(float64(placed))
	m.unplaced.Add(float64(unplaced))
}
