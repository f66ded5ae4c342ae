package diskmodel

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// registerer is the part of a prometheus registry that is used.
type registerer interface {
	Register(collector prometheus.Collector) error
}

// Reasons by which failures are counted.
const (
	reasonList     = "list"
	reasonFetch    = "fetch"
	reasonDigest   = "digest"
	reasonNative   = "native"
	reasonDocument = "document"
)

// reasonOf returns the reason of a failure; a native plug-in is one wherever it was noticed.
func reasonOf(err error) string {
	if errors.Is(err, ErrNative) {
		return reasonNative
	}
	if fault, ok := errors.AsType[*failure](err); ok {
		return fault.reason
	}
	return reasonDocument
}

func newFailures() *prometheus.CounterVec {
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vicinity_disk_model_load_failures_total",
		Help: "Failed attempts to load a disk model, by reason. The last good model of the disk stays in use.",
	}, []string{"reason"})
	for _, reason := range []string{reasonList, reasonFetch, reasonDigest, reasonNative, reasonDocument} {
		failures.WithLabelValues(reason) // so that the first failure is an increase
	}
	return failures
}

func registerMetrics(reg registerer, failures *prometheus.CounterVec, models func() int) error {
	if err := reg.Register(failures); err != nil {
		return fmt.Errorf("registering metrics of the disk models: %w", err)
	}
	known := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vicinity_disk_models_known",
		Help: "Disk models that are in use.",
	}, func() float64 { return float64(models()) })
	if err := reg.Register(known); err != nil {
		return fmt.Errorf("registering metrics of the disk models: %w", err)
	}
	return nil
}
