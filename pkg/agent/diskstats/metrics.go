package diskstats

import (
	"errors"
	"fmt"
	"path"

	"github.com/prometheus/client_golang/prometheus"

	diskiov1alpha1 "github.com/vicinity-scheduler/vicinity/apis/diskio/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/hostdisk"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// metrics are those of the collector. Package doc lists them.
type metrics struct {
	bytes, operations, wait, busy, pressure, podBytes *prometheus.GaugeVec
	pods                                              prometheus.Gauge
	reports                                           *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	const labelDevice, labelDirection = "device", "direction"
	var errs []error
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		vector := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vicinity_agent_diskstats_" + name, Help: help}, labels)
		errs = append(errs, r.Register(vector))
		return vector
	}
	m := &metrics{
		bytes:      gauge("bytes_per_second", "Bytes that a disk transfers per second, on average.", labelDevice, labelDirection),
		operations: gauge("operations_per_second", "Operations that a disk ends per second, on average.", labelDevice, labelDirection),
		wait:       gauge("wait_seconds", "How long an operation takes, queueing included, on average.", labelDevice, labelDirection),
		busy:       gauge("busy_ratio", "Share of time in which a disk has something to do, 0 to 1.", labelDevice),
		pressure:   gauge("pressure_ratio", "Share of time in which some or all processes wait for any disk, 0 to 1.", "share"),
		podBytes:   gauge("pods_bytes_per_second", "Bytes that all pods together transfer per second, on average.", labelDevice, labelDirection),
		pods: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vicinity_agent_diskstats_pods", Help: "Pods of which the kernel tells what they do with disks.",
		}),
		reports: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vicinity_agent_diskstats_reports_total",
			Help: "Reports written to the API server, by what caused them: start, change or heartbeat.",
		}, []string{"reason"}),
	}
	errs = append(errs, r.Register(m.pods), r.Register(m.reports))
	for _, reason := range []string{report.ReasonStart, report.ReasonChange, report.ReasonHeartbeat} {
		m.reports.WithLabelValues(reason)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the diskstats collector: %w", err)
	}
	return m, nil
}

// observe sets the gauges. Disks are those described; before any are, none is shown.
func (m *metrics) observe(devices map[string]diskiov1alpha1.DiskDevice, used map[string]usage, p hostdisk.Pressure) {
	for _, vector := range []*prometheus.GaugeVec{m.bytes, m.operations, m.wait, m.busy} {
		vector.Reset()
	}
	for _, device := range devices {
		u, ok := usageOf(&device, used)
		if !ok {
			continue
		}
		name := path.Base(device.Name)
		for direction, f := range map[string]flow{"read": u.read, "write": u.write} {
			m.bytes.WithLabelValues(name, direction).Set(f.bytes)
			m.operations.WithLabelValues(name, direction).Set(f.operations)
			m.wait.WithLabelValues(name, direction).Set(f.wait)
		}
		m.busy.WithLabelValues(name).Set(u.busy)
	}
	m.pressure.WithLabelValues("some").Set(p.Some)
	m.pressure.WithLabelValues("full").Set(p.Full)
}

// observePods sets the gauges of what pods do.
func (m *metrics) observePods(devices map[string]diskiov1alpha1.DiskDevice, used map[string]usage, pods int) {
	m.podBytes.Reset()
	for _, device := range devices {
		if u, ok := usageOf(&device, used); ok {
			name := path.Base(device.Name)
			m.podBytes.WithLabelValues(name, "read").Set(u.read.bytes)
			m.podBytes.WithLabelValues(name, "write").Set(u.write.bytes)
		}
	}
	m.pods.Set(float64(pods))
}
