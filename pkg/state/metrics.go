package state

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	malformed *prometheus.CounterVec
}

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

func newMetrics(reg registerer) (*metrics, error) {
	m := &metrics{malformed: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_state_malformed_total",
		Help: "Custom resource objects or parts of them that could not be read and were left out, by resource.",
	}, []string{"resource"})}
	if err := reg.Register(m.malformed); err != nil {
		return nil, fmt.Errorf("registering metrics of the custom resource state: %w", err)
	}
	return m, nil
}
