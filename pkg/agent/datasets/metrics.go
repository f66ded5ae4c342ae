package datasets

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// Why something was skipped, as the metrics call it.
const (
	skippedUnreadable = "unreadable"
	skippedDevice     = "other_device"
	skippedLink       = "link"
	skippedName       = "name"
	skippedDepth      = "too_deep"
	skippedTooMany    = "too_many"
)

// Why a report was sent, as the metrics call it.
const (
	reasonStart     = report.ReasonStart
	reasonChange    = report.ReasonChange
	reasonHeartbeat = report.ReasonHeartbeat
)

const labelRoot = "root"

// metrics are those of the collector. Package doc lists them.
type metrics struct {
	walk    *walkMetrics
	roots   map[string]*rootMetrics
	known   prometheus.Gauge
	omitted prometheus.Gauge
	bytes   map[vicinityv1alpha1.Medium]prometheus.Gauge
	reports map[string]prometheus.Counter
}

// walkMetrics are counted by the walks of all roots.
type walkMetrics struct {
	examined prometheus.Counter
	skipped  map[string]prometheus.Counter // by reason
}

// rootMetrics are those of one root.
type rootMetrics struct {
	walk     *walkMetrics
	passes   prometheus.Counter
	lastPass prometheus.Gauge
	readable prometheus.Gauge
}

// newMetrics creates every series, so that alerts see 0 and not nothing.
func newMetrics(r prometheus.Registerer, rootPaths []string) (*metrics, error) {
	f := &factory{registerer: r}
	m := &metrics{
		walk: &walkMetrics{
			examined: f.counters("examined_total", "Files and folders whose size was looked up.", "")[""],
			skipped: f.counters("skipped_total", "What was left out of counts: what could not be read (unreadable), what is "+
				"mounted below a root (other_device), links where the layout has a folder (link), folders whose name no namespace or "+
				"dataset can have (name), folders nested too deeply (too_deep), datasets beyond what is remembered of a root (too_many).",
				"reason", skippedUnreadable, skippedDevice, skippedLink, skippedName, skippedDepth, skippedTooMany),
		},
		known:   f.gauges("found", "Datasets of which at least one byte lies on the node, once a medium.", "")[""],
		omitted: f.gauges("omitted", "Datasets found but left out of the latest report because an object holds no more.", "")[""],
		bytes:   map[vicinityv1alpha1.Medium]prometheus.Gauge{},
		reports: f.counters("reports_total", "Reports written to the API server, by what caused them: start, change or heartbeat.",
			"reason", reasonStart, reasonChange, reasonHeartbeat),
	}
	media := f.gauges("cached_bytes", "Bytes of all datasets found on a medium.",
		"medium", string(vicinityv1alpha1.MediumMemory), string(vicinityv1alpha1.MediumSSD), string(vicinityv1alpha1.MediumHDD))
	for medium, gauge := range media {
		m.bytes[vicinityv1alpha1.Medium(medium)] = gauge
	}
	m.roots = f.roots(m.walk, rootPaths)
	if err := errors.Join(f.errs...); err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the datasets collector: %w", err)
	}
	return m, nil
}

// factory registers metrics and remembers what went wrong.
type factory struct {
	registerer prometheus.Registerer
	errs       []error
}

func (f *factory) roots(walk *walkMetrics, paths []string) map[string]*rootMetrics {
	passes := f.counters("root_passes_total", "Complete walks through a root.", labelRoot, paths...)
	last := f.gauges("root_last_pass_timestamp_seconds",
		"When the latest complete walk through a root ended, in seconds since 1970; 0 if there was none.", labelRoot, paths...)
	readable := f.gauges("root_readable", "Whether the latest walk through a root got to its end (1) or could not read the root (0).",
		labelRoot, paths...)
	roots := map[string]*rootMetrics{}
	for _, path := range paths {
		roots[path] = &rootMetrics{walk: walk, passes: passes[path], lastPass: last[path], readable: readable[path]}
	}
	return roots
}

// counters registers a counter with a series for each value of its label. Without a label the key is "".
func (f *factory) counters(name, help, label string, values ...string) map[string]prometheus.Counter {
	o := prometheus.CounterOpts{Name: "vicinity_agent_datasets_" + name, Help: help}
	if label == "" {
		counter := prometheus.NewCounter(o)
		f.errs = append(f.errs, f.registerer.Register(counter))
		return map[string]prometheus.Counter{"": counter}
	}
	vector := prometheus.NewCounterVec(o, []string{label})
	f.errs = append(f.errs, f.registerer.Register(vector))
	series := map[string]prometheus.Counter{}
	for _, value := range values {
		series[value] = vector.WithLabelValues(value)
	}
	return series
}

// gauges is counters for gauges.
func (f *factory) gauges(name, help, label string, values ...string) map[string]prometheus.Gauge {
	o := prometheus.GaugeOpts{Name: "vicinity_agent_datasets_" + name, Help: help}
	if label == "" {
		gauge := prometheus.NewGauge(o)
		f.errs = append(f.errs, f.registerer.Register(gauge))
		return map[string]prometheus.Gauge{"": gauge}
	}
	vector := prometheus.NewGaugeVec(o, []string{label})
	f.errs = append(f.errs, f.registerer.Register(vector))
	series := map[string]prometheus.Gauge{}
	for _, value := range values {
		series[value] = vector.WithLabelValues(value)
	}
	return series
}

// observe sets the gauges to what is known.
func (m *metrics) observe(all map[key]observation, omitted int) {
	sums := map[vicinityv1alpha1.Medium]int64{}
	for at, found := range all {
		sums[at.medium] = saturatingAdd(sums[at.medium], found.bytes)
	}
	for medium, gauge := range m.bytes {
		gauge.Set(float64(sums[medium]))
	}
	m.known.Set(float64(len(all)))
	m.omitted.Set(float64(omitted))
}
