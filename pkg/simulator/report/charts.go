package report

import (
	"math"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/gpushare"
	"github.com/vicinity-scheduler/vicinity/pkg/simulator/model"
)

const (
	arrivedLabel  = "arrived GPU demand, % of capacity"
	fromContended = "from 80 % of arrived demand on"
)

// charts leaves out those that would be empty.
func charts(runs []PageRun) []chart {
	gpus := float64(runs[0].TotalGPUs())
	all := []chart{
		curveChart(runs, chart{Title: "Allocated GPU capacity", YLabel: "% of capacity"},
			func(p *model.CurvePoint) float64 { return p.Allocation }),
		curveChart(runs, chart{Title: "GPUs not allocated", YLabel: "GPUs", Hint: fromContended},
			func(p *model.CurvePoint) float64 {
				if p.ArrivedPercent < contendedFrom {
					return math.NaN()
				}
				return gpus * (1 - p.Allocation/100)
			}),
		curveChart(runs, chart{Title: "Fragment of the idle capacity", YLabel: "% of idle", Hint: "what typical pods cannot use"},
			func(p *model.CurvePoint) float64 { return p.FragRatio }),
	}
	if len(runs) == 2 {
		all = append(all, differenceChart(runs))
	}
	for i := range runs {
		all = append(all, quadrantChart(&runs[i], i, len(runs) == 2))
	}
	if runs[0].Timed() {
		all = append(all,
			shareChart(runs, chart{Title: "Pending time", YLabel: "% of placed pods"}, (*Run).Pending),
			shareChart(runs, chart{Title: "Completion time", YLabel: "% of ended pods"}, (*Run).Completion))
	}
	return slices.DeleteFunc(all, func(c chart) bool { return len(c.X) == 0 || len(c.Series) == 0 })
}

// colours of the runs in page.css.
func colours() []string { return []string{"a", "b"} }

func curveChart(runs []PageRun, c chart, value func(*model.CurvePoint) float64) chart {
	c.XLabel = arrivedLabel
	last := -1
	for i := range runs {
		if point, found := runs[i].Last(); found {
			last = max(last, point.ArrivedPercent)
		}
	}
	shown := map[int]bool{}
	values := make([][]*float64, len(runs))
	for i := range runs {
		values[i] = make([]*float64, last+1)
		for j := range runs[i].Curve {
			p := &runs[i].Curve[j]
			if v := value(p); !math.IsNaN(v) {
				values[i][p.ArrivedPercent] = &v
				shown[p.ArrivedPercent] = true
			}
		}
	}
	var kept []int
	for percent := range last + 1 {
		if shown[percent] {
			kept = append(kept, percent)
			c.X = append(c.X, float64(percent))
		}
	}
	for i := range runs {
		line := lineData{Name: runs[i].Policy, Colour: colours()[i]}
		for _, percent := range kept {
			line.Y = append(line.Y, twoDigits(values[i][percent]))
		}
		c.Series = append(c.Series, line)
	}
	return c
}

// twoDigits keeps the page small.
func twoDigits(v *float64) *float64 {
	if v == nil {
		return nil
	}
	short := math.Round(*v*100) / 100
	return &short
}

func differenceChart(runs []PageRun) chart {
	c := chart{Title: "B minus A", Hint: "allocated GPU capacity, paired by arrived demand", XLabel: arrivedLabel, YLabel: "points"}
	line := lineData{Name: "B − A", Colour: "difference"}
	equal := true
	for _, point := range Compare(runs[0].Run, runs[1].Run).Allocation {
		c.X = append(c.X, float64(point.ArrivedPercent))
		line.Y = append(line.Y, twoDigits(&point.Value))
		equal = equal && point.Value == 0
	}
	if equal {
		return chart{} // the table says so already
	}
	c.Series = []lineData{line}
	return c
}

// quadrant is a class of idle capacity with its name and colour, from the bottom of the stack to its top.
type quadrant struct {
	at           gpushare.Quadrant
	name, colour string
}

func quadrants() []quadrant {
	return []quadrant{
		{gpushare.Q3Satisfied, "usable", "usable"},
		{gpushare.Q2LackGPU, "lacks GPU", "lack-gpu"},
		{gpushare.Q4LackCPU, "lacks CPU", "lack-cpu"},
		{gpushare.Q1LackBoth, "lacks both", "lack-both"},
		{gpushare.XLSatisfied, "pods without GPU fit", "no-gpu"},
		{gpushare.XRLackCPU, "pods without GPU lack CPU", "no-gpu-lack"},
		{gpushare.NoAccess, "other GPU model", "no-access"},
	}
}

// contended are the samples from which on pods compete, or all if the run does not get that far.
func contended(samples []Sample) []Sample {
	for i := range samples {
		if samples[i].ArrivedPercent >= contendedFrom {
			return samples[i:]
		}
	}
	return samples
}

// quadrantChart stacks what idle GPUs are good for.
func quadrantChart(run *PageRun, at int, compare bool) chart {
	c := chart{Title: "Idle GPUs by what they are good for", XLabel: arrivedLabel, YLabel: "GPUs", Stacked: true}
	if compare {
		c.Title += ", " + []string{"A", "B"}[at]
	}
	if run.Timeline == nil {
		return c
	}
	samples := contended(run.Timeline.Samples())
	if len(samples) > 0 && samples[0].ArrivedPercent >= contendedFrom {
		c.Hint = fromContended
	}
	for i := range samples {
		c.X = append(c.X, float64(samples[i].ArrivedPercent))
	}
	sums := make([]float64, len(samples))
	for _, q := range quadrants() {
		line := lineData{Name: q.name, Colour: q.colour}
		present := false
		for i := range samples {
			own := samples[i].Idle[q.at]
			sums[i] += own
			present = present || own > 0
			sum := sums[i]
			line.Y = append(line.Y, twoDigits(&sum))
			line.Own = append(line.Own, twoDigits(&own))
		}
		if present {
			c.Series = append(c.Series, line)
		}
	}
	slices.Reverse(c.Series)
	return c
}

// shareChart shows for each time how many pods took no longer.
func shareChart(runs []PageRun, c chart, of func(*Run) Distribution) chart {
	c.XLabel, c.LogX = "seconds", true
	var longest float64
	for i := range runs {
		longest = max(longest, of(runs[i].Run).Quantile(1).Seconds())
	}
	if longest < 1 {
		return c // nobody waited
	}
	const steps = 80
	for i := range steps + 1 {
		c.X = append(c.X, math.Pow(longest, float64(i)/steps))
	}
	for i := range runs {
		all := of(runs[i].Run)
		line := lineData{Name: runs[i].Policy, Colour: colours()[i]}
		for _, x := range c.X {
			count, _ := slices.BinarySearchFunc(all, x, func(t time.Duration, limit float64) int {
				if t.Seconds() <= limit {
					return -1
				}
				return 1
			})
			share := 100 * float64(count) / float64(max(len(all), 1))
			line.Y = append(line.Y, twoDigits(&share))
		}
		c.Series = append(c.Series, line)
	}
	return c
}
