package mlp

import (
	"math"
	"testing"
)

func TestQuantise(t *testing.T) {
	cases := []struct {
		name   string
		output float32
		want   int16
	}{
		{"whole hundredths stay what they are", 0.29, 29},
		{"a rounding below a whole hundredth is no step down", 0.28999, 29},
		{"between two steps the lower one counts", 0.2899, 28},
		{"below zero, too", -0.011, -2},
		{"far too high", 1e30, math.MaxInt16},
		{"minus infinity", float32(math.Inf(-1)), math.MinInt16},
		{"not a number is worst", float32(math.NaN()), math.MinInt16},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Quantise(c.output); got != c.want {
				t.Errorf("want %d, got %d", c.want, got)
			}
		})
	}
}
