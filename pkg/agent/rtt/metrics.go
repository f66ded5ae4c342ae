package rtt

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vicinity-scheduler/vicinity/pkg/agent/report"
)

// How something was measured, as the metrics call it.
const (
	methodICMP = "icmp"
	methodUDP  = "udp"
	methodTCP  = "tcp"
)

// metrics are those of the collector. Package doc lists them.
type metrics struct {
	sent     map[string]prometheus.Counter // by method
	lost     map[string]prometheus.Counter
	faults   prometheus.Counter
	rejected prometheus.Counter
	deferred prometheus.Gauge
	targets  map[string]prometheus.Gauge // by kind
	cut      map[string]prometheus.Gauge
	reports  map[string]prometheus.Counter
	echo     *echoMetrics
}

const (
	kindNode     = "node"
	kindEndpoint = "endpoint"
)

// newMetrics creates every series, so that alerts see 0 and not nothing.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	f := &factory{registerer: r}
	ways := []string{methodICMP, methodUDP, methodTCP}
	m := &metrics{
		sent: f.counters("probes_sent_total", "Probes sent, by method: icmp, udp, or tcp, which is for endpoints.", "method", ways...),
		lost: f.counters("probes_lost_total", "Probes that were not answered in time, by method.", "method", ways...),
		faults: f.counters("probe_faults_total", "Rounds of a target in which nothing could be measured for a reason on this node, "+
			"such as an endpoint's name that cannot be looked up.", "", "")[""],
		rejected: f.counters("coordinates_rejected_total", "Coordinates of other nodes that could not be used.", "", "")[""],
		deferred: f.gauges("targets_deferred", "Targets that the latest round left to the next, because maxProbesPerSecond allows no more.",
			"", "")[""],
		targets: f.gauges("targets", "Targets that are probed now, by kind: node or endpoint.", "kind", kindNode, kindEndpoint),
		cut:     f.gauges("targets_cut", "Of these, those of which nothing is answered.", "kind", kindNode, kindEndpoint),
		reports: f.counters("reports_total", "Reports written to the API server, by what caused them: start, change or heartbeat.",
			"reason", report.ReasonStart, report.ReasonChange, report.ReasonHeartbeat),
		echo: &echoMetrics{
			answered: f.counters("echo_answered_total", "Echo requests of other agents that were answered.", "", "")[""],
			dropped: f.counters("echo_dropped_total", "Packets to the echo that were not answered: too many (rate), not from an agent of "+
				"this cluster (token), no token known yet (no_token), or the reply could not be sent (send).",
				"reason", droppedRate, droppedToken, droppedNoToken, droppedSend),
		},
	}
	if err := errors.Join(f.errs...); err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the rtt collector: %w", err)
	}
	return m, nil
}

// probes counts what a round sent to one target.
func (m *metrics) probes(o measured) {
	m.sent[o.method].Add(float64(o.sent))
	m.lost[o.method].Add(float64(max(0, o.sent-len(o.answered))))
}

// observe counts the paths.
func (m *metrics) observe(nodes, endpoints map[string]*path) {
	for kind, paths := range map[string]map[string]*path{kindNode: nodes, kindEndpoint: endpoints} {
		current, cut := 0, 0
		for _, p := range paths {
			if p.current {
				current++
				if s := p.window.Summary(); s.Cut() {
					cut++
				}
			}
		}
		m.targets[kind].Set(float64(current))
		m.cut[kind].Set(float64(cut))
	}
}

// factory makes and registers vectors, and keeps the errors for the end.
type factory struct {
	registerer prometheus.Registerer
	errs       []error
}

const prefix = "vicinity_agent_rtt_"

func (f *factory) counters(name, help, label string, values ...string) map[string]prometheus.Counter {
	vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels(label))
	f.errs = append(f.errs, f.registerer.Register(vector))
	made := make(map[string]prometheus.Counter, len(values))
	for _, value := range values {
		made[value] = vector.WithLabelValues(given(label, value)...)
	}
	return made
}

func (f *factory) gauges(name, help, label string, values ...string) map[string]prometheus.Gauge {
	vector := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels(label))
	f.errs = append(f.errs, f.registerer.Register(vector))
	made := make(map[string]prometheus.Gauge, len(values))
	for _, value := range values {
		made[value] = vector.WithLabelValues(given(label, value)...)
	}
	return made
}

// labels and given leave out the label of a metric that has none.
func labels(label string) []string {
	if label == "" {
		return nil
	}
	return []string{label}
}

func given(label, value string) []string {
	if label == "" {
		return nil
	}
	return []string{value}
}
