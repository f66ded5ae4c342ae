package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/vicinity-scheduler/vicinity/pkg/diskmodel"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/cacheaware"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/diskio"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/edgedelay"
	"github.com/vicinity-scheduler/vicinity/pkg/plugins/sniffer"
	"github.com/vicinity-scheduler/vicinity/pkg/state"
	"github.com/vicinity-scheduler/vicinity/pkg/tracesink"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "metricsdoc:", err)
		os.Exit(1)
	}
}

// registry remembers what is registered.
type registry struct{ metrics []metric }

type metric struct{ name, kind, labels, help string }

// descPattern reads what prometheus.Desc tells of itself; it has no accessors.
const descPattern = `fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)",(?: unit: "[^"]*",)? ` +
	`constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`

// Register implements the registerer of the packages.
func (r *registry) Register(collector prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 16)
	collector.Describe(descs)
	close(descs)
	for desc := range descs {
		found := regexp.MustCompile(descPattern).FindStringSubmatch(desc.String())
		if found == nil {
			return fmt.Errorf("want a description of the form %s, found %s", descPattern, desc)
		}
		m := metric{name: found[1], kind: kindOf(collector), help: strings.ReplaceAll(found[2], `\"`, `"`)}
		m.labels = strings.Join(strings.FieldsFunc(labelNames(found[3])+","+found[4], func(c rune) bool { return c == ',' }), ", ")
		if !slices.ContainsFunc(r.metrics, func(have metric) bool { return have.name == m.name }) {
			r.metrics = append(r.metrics, m)
		}
	}
	return nil
}

// labelNames drops the values of constant labels: a="x",b="y" becomes a,b.
func labelNames(constant string) string {
	return regexp.MustCompile(`="(?:[^"\\]|\\.)*"`).ReplaceAllString(constant, "")
}

func kindOf(collector prometheus.Collector) string {
	switch collector.(type) {
	case prometheus.Gauge, *prometheus.GaugeVec: // before Counter, whose methods a Gauge has too
		return "gauge"
	case *prometheus.CounterVec, prometheus.Counter:
		return "counter"
	case prometheus.Histogram, *prometheus.HistogramVec:
		return "histogram"
	default:
		return "gauge"
	}
}

// scheduler returns what vicinity-scheduler registers beside kube-scheduler's own metrics.
func scheduler() ([]metric, error) {
	all := &registry{}
	factory := informers.NewSharedInformerFactory(nil, 0)
	nodes, err := state.NewNodes(factory.Core().V1().Nodes().Informer())
	if err != nil {
		return nil, err
	}
	known, err := state.New(&rest.Config{}, nodes, all)
	if err != nil {
		return nil, err
	}
	if _, err := edgedelay.NewMetrics(all, known.RTTs(), clock.RealClock{}); err != nil {
		return nil, err
	}
	if err := all.Register(state.NewDelayFilesFailures()); err != nil {
		return nil, err
	}
	if _, err := cacheaware.NewMetrics(all); err != nil {
		return nil, err
	}
	if _, err := diskio.NewMetrics(all); err != nil {
		return nil, err
	}
	if _, err := diskmodel.NewLoader(diskmodel.Options{}, all); err != nil {
		return nil, err
	}
	if _, err := sniffer.NewMetrics(all); err != nil {
		return nil, err
	}
	if _, err := tracesink.NewMetrics(all); err != nil {
		return nil, err
	}
	return all.metrics, nil
}

func run(out io.Writer) error {
	metrics, err := scheduler()
	if err != nil {
		return err
	}
	slices.SortFunc(metrics, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	fmt.Fprint(out, "<!-- Written by hack/metricsdoc from the code: run make generate. -->\n# Metrics\n\n"+
		"`vicinity-scheduler` serves these on `/metrics` of its secure port, beside all metrics of kube-scheduler.\n\n"+
		"| metric | kind | labels | meaning |\n|---|---|---|---|\n")
	for _, m := range metrics {
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", m.name, m.kind, m.labels, m.help)
	}
	return nil
}
