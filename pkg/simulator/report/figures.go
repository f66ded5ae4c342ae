package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// measure is a number that is taken of each run.
type measure struct {
	name, hint string
	// of is false where the run does not have the number.
	of   func(*Run) (float64, bool)
	text func(float64) string
	// up says that more is better, down that less is; neither for what is no merit.
	up, down bool
}

func measures() []measure {
	return []measure{
		{"Pods placed", "of all that arrived", func(r *Run) (float64, bool) { n, _ := r.Count(); return float64(n), true }, whole, true, false},
		{"Pods without a node", "", func(r *Run) (float64, bool) { _, n := r.Count(); return float64(n), true }, whole, false, true},
		{"GPU capacity allocated at 100 %", "mean while arrived demand is 100 % of the capacity", atPercent(100), inPercent, true, false},
		{"GPU capacity allocated at the end", "", lastAllocation, inPercent, true, false},
		{"GPUs not allocated at the end", "", unallocated, tenths, false, true},
		{"Fragment at the end", "part of the GPU capacity that typical pods cannot use", lastFragment, inPercent, false, true},
		{"Pending, median", "from arrival to placement", waiting(0.5), span, false, true},
		{"Pending, 99th percentile", "", waiting(0.99), span, false, true},
		{"Completion, median", "from arrival to end", completing(0.5), span, false, true},
		{"Completion, 99th percentile", "", completing(0.99), span, false, true},
		{"Fairness", "Jain's index over the groups below: 1 is all alike", fairness, index, true, false},
		{"Stalled", "waiting for data and disks, all pods together", stalled, span, false, true},
		{"Bytes across racks", "datasets that were fetched from another rack, zone or the store", acrossRacks, gibibytes, false, true},
		{"Round trip to peers", "mean over pods with peers", peerRTT, microseconds, false, true},
		{"Restarts", "pods that a failing node has lost", restarts, whole, false, true},
		{"Decisions a second", "", func(r *Run) (float64, bool) { d := r.DecisionsPerSecond(); return d, d > 0 }, whole, true, false},
		{"Seconds", "time that deciding took", func(r *Run) (float64, bool) { return r.Wall.Seconds(), r.Wall > 0 }, hundredths, false, true},
	}
}

func atPercent(percent int) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		point, found := r.At(percent)
		return point.Allocation, found
	}
}

func lastAllocation(r *Run) (float64, bool) {
	point, found := r.Last()
	return point.Allocation, found
}

func unallocated(r *Run) (float64, bool) {
	point, found := r.Last()
	return float64(r.TotalGPUs()) * (1 - point.Allocation/100), found
}

func lastFragment(r *Run) (float64, bool) {
	point, found := r.Last()
	return point.FragCapacity, found
}

func stalled(r *Run) (float64, bool) {
	sum, found := r.Stalled()
	return sum.Seconds(), found
}

func acrossRacks(r *Run) (float64, bool) {
	fetched, found := r.AcrossRacks()
	return float64(fetched), found
}

func fairness(r *Run) (float64, bool) { return Fairness(r.Groups()), true }

func waiting(q float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) { return r.Pending().Quantile(q).Seconds(), r.Timed() }
}

func completing(q float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		all := r.Completion()
		return all.Quantile(q).Seconds(), r.Timed() && len(all) > 0
	}
}

func figures(runs []PageRun) []figure {
	var rows []figure
	for _, m := range measures() {
		row := figure{Name: m.name, Hint: m.hint}
		var values []float64
		for i := range runs {
			value, known := m.of(runs[i].Run)
			if !known || math.IsNaN(value) || math.IsInf(value, 0) {
				row.Values = append(row.Values, "")
				continue
			}
			values = append(values, value)
			row.Values = append(row.Values, m.text(value))
		}
		if len(values) == 0 {
			continue
		}
		if len(runs) == 2 && len(values) == 2 {
			m.compare(&row, values[0], values[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// compare says how B differs from A, in the digits that are shown: equal looking numbers are equal.
func (m *measure) compare(row *figure, a, b float64) {
	if row.Values[0] == row.Values[1] {
		row.Difference = "equal"
		return
	}
	sign := "+"
	if b < a {
		sign = "−"
	}
	row.Difference = sign + strings.Replace(m.text(math.Abs(b-a)), " %", " points", 1)
	switch {
	case m.up && b > a, m.down && b < a:
		row.Better = "b"
	case m.up || m.down:
		row.Better = "a"
	}
}

func microseconds(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) + " µs" }
func gibibytes(v float64) string    { return strconv.FormatFloat(v/(1<<30), 'f', 1, 64) + " GiB" }

func whole(v float64) string      { return thousands(int(math.Round(v))) }
func tenths(v float64) string     { return strconv.FormatFloat(v, 'f', 1, 64) }
func hundredths(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
func index(v float64) string      { return strconv.FormatFloat(v, 'f', 3, 64) }
func inPercent(v float64) string  { return strconv.FormatFloat(v, 'f', 2, 64) + " %" }

// span shows seconds as people say them.
func span(seconds float64) string {
	const day = 24 * time.Hour
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < 10*time.Second:
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 2*day:
		return fmt.Sprintf("%.1f h", d.Hours())
	default:
		return fmt.Sprintf("%.1f d", d.Hours()/day.Hours())
	}
}

// thousands parts a number's digits by thin spaces.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "\u202f" + digits[at:]
	}
	return digits
}

// mostGroups bounds the table of groups; a cluster may have thousands of namespaces.
const mostGroups = 12

func groupRows(runs []PageRun) []groupRow {
	var rows []groupRow
	second := map[string]Group{}
	if len(runs) == 2 {
		for _, g := range runs[1].Groups() {
			second[g.Name] = g
		}
	}
	for i, g := range runs[0].Groups() {
		if i == mostGroups {
			break
		}
		row := groupRow{Name: g.Name, Values: []string{whole(float64(g.Pods)), inPercent(100 * g.Served())}}
		if other, found := second[g.Name]; found {
			row.Values = append(row.Values, inPercent(100*other.Served()))
		} else if len(runs) == 2 {
			row.Values = append(row.Values, "")
		}
		rows = append(rows, row)
	}
	return rows
}
