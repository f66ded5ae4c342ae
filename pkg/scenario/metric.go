package scenario

import (
	"context"
	"fmt"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// metric adds to a metric of a file what it takes to compare it with a process's metrics.
type metric struct{ *format.Metric }

func (s *session) awaitMetric(ctx context.Context, given *format.Metric, within time.Duration) error {
	m, process := metric{given}, given.Process
	if process == "" {
		process = localstack.Scheduler
	}
	var value float64
	met, err := poll(ctx, within, func(ctx context.Context) (bool, error) {
		families, err := s.stack.Metrics(ctx, process)
		if err != nil {
			return false, err
		}
		value = m.sum(families[m.Name])
		return m.holds(value), nil
	})
	if err == nil && !met {
		err = &unmetError{reason: fmt.Sprintf("want metric %s%s of %s %s, found %g", m.Name, m.series(), process, m.bounds(), value)}
	}
	return err
}

func (m metric) holds(value float64) bool {
	return (m.Min == nil || value >= *m.Min) && (m.Max == nil || value <= *m.Max)
}

// sum adds up the matching series of one metric; a nil family has none.
func (m metric) sum(family *dto.MetricFamily) float64 {
	selector, total := labels.SelectorFromSet(m.Labels), 0.0
	for _, series := range family.GetMetric() {
		set := labels.Set{}
		for _, pair := range series.GetLabel() {
			set[pair.GetName()] = pair.GetValue()
		}
		if selector.Matches(set) {
			total += valueOf(series)
		}
	}
	return total
}

func valueOf(series *dto.Metric) float64 {
	switch {
	case series.GetCounter() != nil:
		return series.GetCounter().GetValue()
	case series.GetGauge() != nil:
		return series.GetGauge().GetValue()
	case series.GetHistogram() != nil:
		return float64(series.GetHistogram().GetSampleCount())
	case series.GetSummary() != nil:
		return float64(series.GetSummary().GetSampleCount())
	}
	return series.GetUntyped().GetValue()
}

func (m metric) series() string {
	if len(m.Labels) == 0 {
		return ""
	}
	return "{" + labels.FormatLabels(m.Labels) + "}"
}

func (m metric) bounds() string {
	switch {
	case m.Max == nil:
		return fmt.Sprintf(">= %g", *m.Min)
	case m.Min == nil:
		return fmt.Sprintf("<= %g", *m.Max)
	}
	return fmt.Sprintf("from %g to %g", *m.Min, *m.Max)
}
