package goldpinger

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Mode says how Goldpinger is asked; the package comment explains it.
type Mode string

const (
	// Off asks nobody.
	Off Mode = "Off"
	// CheckAll asks one pod for everything.
	CheckAll Mode = "CheckAll"
	// Check asks each pod for its pings.
	Check Mode = "Check"
	// Metrics asks each pod for its histograms.
	Metrics Mode = "Metrics"
)

func modes() []Mode { return []Mode{Off, CheckAll, Check, Metrics} }

// Bounds of Options.
const (
	minInterval = 5 * time.Second
	maxInterval = time.Hour
	maxPort     = 65535
)

// Options is how Goldpinger is asked.
type Options struct {
	// Mode is how, Off or "" for not at all.
	Mode Mode
	// URL is where /check_all is, without that path; mode CheckAll needs it.
	URL string
	// PodNamespace and PodSelector find Goldpinger's pods; an empty namespace is all of them.
	PodNamespace, PodSelector string
	// Port is the pods' port.
	Port int32
	// Interval is the time from one round to the next, 5 s to 1 h. Goldpinger itself pings every 30 s.
	Interval time.Duration

	selector labels.Selector
}

// Defaults are what holds without flags.
func Defaults() Options {
	const interval, port = 30 * time.Second, 8080
	return Options{
		Mode: Off, Interval: interval, Port: port,
		// Its Helm chart labels the pods so. Those of its README have app=goldpinger.
		PodSelector: "app.kubernetes.io/name=goldpinger",
	}
}

// Validate says what is wrong with the options, and prepares them.
func (o *Options) Validate() error {
	if o.Mode == "" || o.Mode == Off {
		return nil
	}
	var errs []error
	if !slices.Contains(modes(), o.Mode) {
		errs = append(errs, fmt.Errorf("--goldpinger-mode: expected one of %v, found %q", modes(), o.Mode))
	}
	if o.Mode == CheckAll && !isHTTP(o.URL) {
		errs = append(errs, fmt.Errorf("--goldpinger-url: expected such as http://goldpinger.monitoring:8081, found %q", o.URL))
	}
	selector, err := labels.Parse(o.PodSelector)
	if err != nil || selector.Empty() {
		errs = append(errs, fmt.Errorf("--goldpinger-selector: expected labels such as app=goldpinger, found %q", o.PodSelector))
	}
	o.selector = selector
	if o.Port < 1 || o.Port > maxPort {
		errs = append(errs, fmt.Errorf("--goldpinger-port: expected 1 to %d, found %d", maxPort, o.Port))
	}
	if o.Interval < minInterval || o.Interval > maxInterval {
		errs = append(errs, fmt.Errorf("--goldpinger-interval: expected %s to %s, found %s", minInterval, maxInterval, o.Interval))
	}
	return errors.Join(errs...)
}

func isHTTP(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.Host != "" && strings.HasPrefix(parsed.Scheme, "http")
}

// Setup returns what adds the ingestion to the manager: nothing if it is off. The options must be valid by then.
func Setup(o *Options) func(context.Context, manager.Manager) error {
	return func(_ context.Context, m manager.Manager) error {
		if o.Mode == "" || o.Mode == Off {
			return nil
		}
		made, err := newMetrics(crmetrics.Registry)
		if err != nil {
			return err
		}
		return m.Add(newIngester(o, m, made))
	}
}

func newIngester(o *Options, m manager.Manager, made *metrics) *ingester {
	transport := &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute}
	return &ingester{
		options: o, cached: m.GetClient(), direct: m.GetAPIReader(), metrics: made, now: time.Now,
		http:  &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		table: table{nodes: map[string]*nodeRow{}}, totals: map[string]map[series]total{},
	}
}

// metrics are listed in the package comment.
type metrics struct {
	errors         map[error]prometheus.Counter
	answered, lost prometheus.Counter
	lastSuccess    prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	const prefix = "vicinity_controller_goldpinger_"
	faults := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: prefix + "errors_total",
		Help: "Faults by reason: no answer in time (unreachable), another status than 200 (status), too long an answer (too_large), " +
			"something else than Goldpinger's answer (malformed), a time that cannot be (impossible), a node that there is not " +
			"(unknown_node), a NodeRTT that could not be written (write).",
	}, []string{"reason"})
	pings := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: prefix + "pings_total", Help: "Pings between nodes that were taken over, by result: answered or lost.",
	}, []string{"result"})
	m := &metrics{
		errors: map[error]prometheus.Counter{}, answered: pings.WithLabelValues("answered"), lost: pings.WithLabelValues("lost"),
		lastSuccess: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "last_success_timestamp_seconds",
			Help: "When Goldpinger last told of pings, in seconds since 1970; 0 if it did not yet.",
		}),
	}
	for fault, reason := range map[error]string{
		errUnreachable: "unreachable", errStatus: "status", errPassive: "status", errTooLarge: "too_large",
		errMalformed: "malformed", errImpossible: "impossible", errUnknownNode: "unknown_node", errWrite: "write",
	} {
		m.errors[fault] = faults.WithLabelValues(reason)
	}
	if err := errors.Join(r.Register(faults), r.Register(pings), r.Register(m.lastSuccess)); err != nil {
		return nil, fmt.Errorf("cannot register the metrics of Goldpinger: %w", err)
	}
	return m, nil
}

// count counts faults and returns the first, with their number.
func (g *ingester) count(faults []error) error {
	var first error
	n := 0
	for _, fault := range faults {
		if fault == nil {
			continue
		}
		n++
		if first == nil {
			first = fault
		}
		for kind, counter := range g.metrics.errors {
			if errors.Is(fault, kind) {
				counter.Inc()
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%d faults, the first: %w", n, first)
}
