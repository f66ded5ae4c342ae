package window

import (
	"math"
	"slices"
	"time"
)

const (
	// MaxSamples bounds what is kept of one path.
	MaxSamples = 4096
	// MinForP99 is how many answered probes a 99th percentile needs at least. Up to 99 it is the largest.
	MinForP99 = 20
	// CutAfter is how many rounds in a row without any answer make a path count as cut. One alone happens by chance:
	// with 5 probes and a loss of 30 % in one of 400 rounds, two in one of 170,000.
	CutAfter = 2
)

// Window holds the outcomes of a path's probes of some time. The zero value is ready for use.
type Window struct {
	samples []sample // the oldest first
	// silent is the number of rounds without any answer since the last one with one, CutAfter at most.
	silent  int
	summary Summary
}

type sample struct {
	at time.Time
	// rtt is negative for a probe that was not answered.
	rtt time.Duration
}

const lost time.Duration = -1

// Summary is what is known of a path.
type Summary struct {
	// At is the time of the latest probe.
	At time.Time
	// Samples is how many probes, answered or not, the rest is taken from; 0 means that nothing is known.
	Samples int
	// Lost is how many of them were not answered.
	Lost int
	// P50 is the median of the answered ones, P99 the 99th percentile, 0 if there were too few for one. While nothing is
	// answered they are the last that were known; Answered says whether there ever were any.
	P50, P99 time.Duration
	Answered bool
}

// Cut tells whether nothing is answered.
func (s *Summary) Cut() bool { return s.Samples > 0 && s.Lost == s.Samples }

// Restored returns a window without samples whose summary is that of an earlier process.
func Restored(last Summary) Window { return Window{summary: last} }

// Summary returns what is known now.
func (w *Window) Summary() Summary { return w.summary }

// Reset forgets the samples, because the path has become another one. What was known stays until there is news.
func (w *Window) Reset() { w.samples, w.silent = nil, 0 }

// Add takes the outcome of a round that ended at now: what was answered, and how many probes were not. What is older than
// span is forgotten. When a path is cut, or answers again after that, what was before says nothing about it any more.
func (w *Window) Add(now time.Time, span time.Duration, answered []time.Duration, unanswered int) {
	if len(answered)+unanswered == 0 {
		return
	}
	switch {
	case len(answered) > 0:
		if w.silent >= CutAfter {
			w.samples = nil
		}
		w.silent = 0
	case w.silent < CutAfter:
		w.silent++
		if w.silent == CutAfter {
			w.samples = nil
		}
	}
	for _, rtt := range answered {
		w.samples = append(w.samples, sample{at: now, rtt: max(rtt, 0)})
	}
	for range unanswered {
		w.samples = append(w.samples, sample{at: now, rtt: lost})
	}
	old := 0
	for old < len(w.samples) && (now.Sub(w.samples[old].at) > span || len(w.samples)-old > MaxSamples) {
		old++
	}
	w.samples = slices.Delete(w.samples, 0, old)
	w.summarise()
}

// summarise works out the summary. Percentiles are of the nearest rank: the smallest answered time such that at least that
// share is not longer.
func (w *Window) summarise() {
	times := make([]time.Duration, 0, len(w.samples))
	for _, s := range w.samples {
		if s.rtt != lost {
			times = append(times, s.rtt)
		}
	}
	last := w.summary
	w.summary = Summary{Samples: len(w.samples), Lost: len(w.samples) - len(times)}
	if len(w.samples) > 0 {
		w.summary.At = w.samples[len(w.samples)-1].at
	}
	if len(times) == 0 {
		w.summary.P50, w.summary.P99, w.summary.Answered = last.P50, last.P99, last.Answered
		return
	}
	slices.Sort(times)
	w.summary.P50, w.summary.Answered = nearestRank(times, 0.5), true
	if len(times) >= MinForP99 {
		w.summary.P99 = nearestRank(times, 0.99)
	}
}

func nearestRank(sorted []time.Duration, share float64) time.Duration {
	return sorted[int(math.Ceil(share*float64(len(sorted))))-1]
}
