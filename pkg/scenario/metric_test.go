package scenario

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func TestMetricSum(t *testing.T) {
	const exposition = `
# TYPE attempts_total counter
attempts_total{result="scheduled",profile="a"} 3
attempts_total{result="scheduled",profile="b"} 4
attempts_total{result="error",profile="a"} 10
# TYPE pending gauge
pending 2
# TYPE duration_seconds histogram
duration_seconds_bucket{le="1"} 5
duration_seconds_bucket{le="+Inf"} 6
duration_seconds_sum 7.5
duration_seconds_count 6
# TYPE size summary
size_sum 1
size_count 8
untyped_thing 9
`
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(exposition))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		metric format.Metric
		want   float64
	}{
		"all series of a counter":    {format.Metric{Name: "attempts_total"}, 17}, // 3 + 4 + 10
		"the series with a label":    {format.Metric{Name: "attempts_total", Labels: map[string]string{"result": "scheduled"}}, 7},
		"no series with that label":  {format.Metric{Name: "attempts_total", Labels: map[string]string{"result": "lost"}}, 0},
		"gauge":                      {format.Metric{Name: "pending"}, 2},
		"observations of histograms": {format.Metric{Name: "duration_seconds"}, 6},
		"observations of summaries":  {format.Metric{Name: "size"}, 8},
		"untyped":                    {format.Metric{Name: "untyped_thing"}, 9},
		"absent":                     {format.Metric{Name: "nobody_knows"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (metric{&tc.metric}).sum(families[tc.metric.Name]); got != tc.want {
				t.Errorf("want %g, found %g", tc.want, got)
			}
		})
	}
}

func TestMetricBounds(t *testing.T) {
	one, two := 1.0, 2.0
	tests := map[string]struct {
		metric format.Metric
		value  float64
		want   bool
		text   string
	}{
		"at the minimum":     {format.Metric{Min: &one}, 1, true, ">= 1"},
		"below the minimum":  {format.Metric{Min: &one}, 0.9, false, ">= 1"},
		"at the maximum":     {format.Metric{Max: &two}, 2, true, "<= 2"},
		"above the maximum":  {format.Metric{Max: &two}, 2.1, false, "<= 2"},
		"inside the range":   {format.Metric{Min: &one, Max: &two}, 1.5, true, "from 1 to 2"},
		"above of the range": {format.Metric{Min: &one, Max: &two}, 3, false, "from 1 to 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (metric{&tc.metric}).holds(tc.value); got != tc.want {
				t.Errorf("want %t, found %t", tc.want, got)
			}
			if got := (metric{&tc.metric}).bounds(); got != tc.text {
				t.Errorf("want %q, found %q", tc.text, got)
			}
		})
	}
}
