package rtt

import (
	"math"
	"slices"
	"time"
)

const (
	// maxSamples bounds what is kept of one path.
	maxSamples = 4096
	// minForP99 is how many answered probes a 99th percentile needs at least. Up to 99 it is the largest.
	minForP99 = 20
	// cutAfter is how many rounds in a row without any answer make a path count as cut. One alone happens by chance:
	// with 5 probes and a loss of 30 % in one of 400 rounds, two in one of 170,000.
	cutAfter = 2
)

// window holds the outcomes of a path's probes of some time, the oldest first.
type window struct {
	samples []sample
	// silent is the number of rounds without any answer since the last one with one.
	silent int
	// last is what was known of the path when a probe was answered last.
	last summary
}

type sample struct {
	at time.Time
	// rtt is negative for a probe that was not answered.
	rtt time.Duration
}

const lost time.Duration = -1

// summary is what is reported of a path.
type summary struct {
	at      time.Time // of the latest probe
	samples int
	lost    int
	// p50 is 0 if no probe was ever answered, p99 if too few were.
	p50, p99 time.Duration
}

// add takes the outcome of a round that ended at now: what was answered, and how many probes were not. What is older than
// span is forgotten. When a path is cut, or answers again after that, what was before says nothing about it any more.
func (w *window) add(now time.Time, span time.Duration, answered []time.Duration, unanswered int) {
	if len(answered)+unanswered == 0 {
		return
	}
	switch {
	case len(answered) > 0:
		if w.silent >= cutAfter {
			w.samples = nil
		}
		w.silent = 0
	case w.silent < cutAfter:
		w.silent++
		if w.silent == cutAfter {
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
	for old < len(w.samples) && (now.Sub(w.samples[old].at) > span || len(w.samples)-old > maxSamples) {
		old++
	}
	w.samples = slices.Delete(w.samples, 0, old)
	w.summarise()
}

// summarise works out what is reported. Percentiles are of the nearest rank: the smallest answered time such that at
// least that share is not longer.
func (w *window) summarise() {
	var times []time.Duration
	for _, s := range w.samples {
		if s.rtt != lost {
			times = append(times, s.rtt)
		}
	}
	now := summary{samples: len(w.samples), lost: len(w.samples) - len(times)}
	if len(w.samples) > 0 {
		now.at = w.samples[len(w.samples)-1].at
	}
	if len(times) == 0 {
		now.p50, now.p99 = w.last.p50, w.last.p99
		w.last = now
		return
	}
	slices.Sort(times)
	now.p50 = nearestRank(times, 0.5)
	if len(times) >= minForP99 {
		now.p99 = nearestRank(times, 0.99)
	}
	w.last = now
}

func nearestRank(sorted []time.Duration, share float64) time.Duration {
	return sorted[int(math.Ceil(share*float64(len(sorted))))-1]
}

// cut tells whether nothing is answered.
func (s *summary) cut() bool { return s.samples > 0 && s.lost == s.samples }
