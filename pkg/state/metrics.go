package state

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// newMalformed returns the counter of what had to be left out.
func newMalformed() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_state_malformed_total",
		Help: "Custom resource objects or parts of them that could not be read and were left out, by resource.",
	}, []string{"resource"})
}

func registerMetrics(reg registerer, malformed *prometheus.CounterVec, sources map[configv1.DatasetSource]source) error {
	if err := reg.Register(malformed); err != nil {
		return fmt.Errorf("registering metrics of the custom resource state: %w", err)
	}
	for name, src := range sources {
		known := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "vicinity_datasets_known",
			Help:        "Datasets that a source has heard of.",
			ConstLabels: prometheus.Labels{"source": string(name)},
		}, func() float64 { return float64(len(src.keys())) })
		if err := reg.Register(known); err != nil {
			return fmt.Errorf("registering metrics of source %s: %w", name, err)
		}
	}
	return nil
}
