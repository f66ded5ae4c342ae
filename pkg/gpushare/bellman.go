package gpushare

import (
	"slices"
	"strconv"
)

// Bellman is the recursive fragmentation of a node in milli: what is left idle in expectation when pods keep coming
// from the distribution until the first that does not fit, V(n) = sum over classes of f x V(n with the pod), or of
// f x (all that is idle) for a class that does not fit. It is 0 when nothing is idle or the path is so improbable that
// less than a milli is at stake, and everything idle when fewer than one pod in a thousand can use any of it.
//
// memo holds values by state and is shared by the nodes of a cluster. As in the predecessor a value that was cut off
// for its improbable path is kept, too, so that values depend on the order in which nodes are visited, by little.
func (m *Meter) Bellman(free Free, memo map[string]float64) float64 {
	work := Free{CPUMilli: free.CPUMilli, Idle: slices.Clone(free.Idle), Model: free.Model}
	return m.bellman(work, 1, memo)
}

func (m *Meter) bellman(free Free, probability float64, memo map[string]float64) float64 {
	slices.SortFunc(free.Idle, func(a, b int) int { return b - a })
	key := stateKey(free)
	if value, known := memo[key]; known {
		return value
	}
	value := m.bellmanValue(free, probability, memo)
	memo[key] = value
	return value
}

func (m *Meter) bellmanValue(free Free, probability float64, memo map[string]float64) float64 {
	total := 0
	for _, idle := range free.Idle {
		total += idle
	}
	idle := float64(total)
	if total == 0 || idle*probability < 1 {
		return 0
	}
	amounts := m.Measure(free)
	if amounts.Fragment()/idle >= 0.999 {
		return idle
	}
	value := 0.0
	for i := range m.rows {
		r := &m.rows[i]
		if next, fits := m.pack(free, i); fits {
			value += r.frequency * m.bellman(next, probability*r.frequency, memo)
		} else {
			value += r.frequency * idle
		}
	}
	return value
}

// pack puts a pod of the row's class onto the node, on the devices with the least sufficient idle part.
func (m *Meter) pack(free Free, at int) (Free, bool) {
	r := &m.rows[at]
	if free.CPUMilli < r.cpuMilli || (r.gpus > 0 && !m.accepts[free.Model][at]) {
		return Free{}, false
	}
	next := Free{CPUMilli: free.CPUMilli - r.cpuMilli, Idle: slices.Clone(free.Idle), Model: free.Model}
	need := r.gpus
	// The idle parts are in falling order, so the least sufficient is the last one.
	for i := len(next.Idle) - 1; i >= 0 && need > 0; i-- {
		if milli := m.milli[r.milli]; next.Idle[i] >= milli {
			next.Idle[i] -= milli
			need--
		}
	}
	return next, need == 0
}

func stateKey(free Free) string {
	key := make([]byte, 0, 64)
	key = strconv.AppendInt(key, free.CPUMilli, 10)
	key = append(key, '/')
	key = strconv.AppendInt(key, int64(free.Model), 10)
	for _, idle := range free.Idle {
		if idle == 0 {
			break
		}
		key = append(key, ',')
		key = strconv.AppendInt(key, int64(idle), 10)
	}
	return string(key)
}
