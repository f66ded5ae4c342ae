package delay

import (
	"cmp"
	"math"
	"time"
)

// none is the delay of a percentile that is not known. Delays are at most an hour, 3.6e9 microseconds.
const none = uint32(1<<32 - 1)

// entry is a sample as a row keeps it: 32 bytes, without pointers for the garbage collector to follow.
type entry struct {
	observed int64 // Unix time in milliseconds
	peer     NodeID
	slot     int32 // where the peer's column has the same
	p50, p99 uint32
	loss     int32
	count    uint16 // 65535 is that many or more
	source   Source
	known    bool
}

// incoming is what a column keeps of a sample: what another node knows of the path to this one.
type incoming struct {
	observed int64
	from     NodeID // noNode in a slot that is free
	p50, p99 uint32
	source   Source
	known    bool
	answered bool
}

// micros rounds up, so that no sample passes a bound by rounding.
func micros(d time.Duration) uint32 { return uint32((d + time.Microsecond - 1) / time.Microsecond) }

func duration(micros uint32) time.Duration { return time.Duration(micros) * time.Microsecond }

// entryOf converts a sample, but for its peer. ok is false when the sample contradicts itself.
func entryOf(s *Sample) (e entry, ok bool) {
	e = entry{observed: s.ObservedAt.UnixMilli(), p99: none, loss: s.Loss, source: s.Source, known: s.Known}
	e.count = uint16(max(0, min(s.Count, math.MaxUint16)))
	if s.Loss < 0 || s.Loss > WholeLoss || s.Known && (s.P50 < 0 || s.P50 > MaxDelay) {
		return entry{}, false
	}
	if !s.Known {
		e.loss = WholeLoss // without a time nothing was answered
		return e, true
	}
	e.p50 = micros(s.P50)
	if s.HasP99 {
		if s.P99 < s.P50 || s.P99 > MaxDelay {
			return entry{}, false
		}
		e.p99 = micros(s.P99)
	}
	return e, true
}

func (e *entry) sample() Sample {
	s := Sample{
		P50: duration(e.p50), ObservedAt: time.UnixMilli(e.observed), Count: int32(e.count), Loss: e.loss,
		Known: e.known, Source: e.source,
	}
	if e.p99 != none {
		s.P99, s.HasP99 = duration(e.p99), true
	}
	return s
}

func (e *entry) answered() bool { return e.known && e.loss < WholeLoss }

func (e *entry) incoming(from NodeID) incoming {
	return incoming{
		observed: e.observed, from: from, p50: e.p50, p99: e.p99, source: e.source, known: e.known, answered: e.answered(),
	}
}

// sameDelay reports that two samples mean the same to whoever is placed by them.
func (e *entry) sameDelay(other *entry) bool {
	return e.p50 == other.p50 && e.p99 == other.p99 && e.known == other.known && e.answered() == other.answered()
}

// worth is what decides which of two samples of one pair counts.
type worth struct {
	answered bool
	source   Source
	observed int64 // Unix milliseconds
}

// compare is above 0 when w is the better sample: answered before not answered; then the source of the higher quality,
// unless its sample is older by staleAfter or more; then the newer.
func (w worth) compare(other worth, staleAfter time.Duration) int {
	if w.answered != other.answered {
		if w.answered {
			return 1
		}
		return -1
	}
	lead := w.observed - other.observed
	if limit := staleAfter.Milliseconds(); lead >= limit || lead <= -limit {
		return cmp.Compare(lead, 0)
	}
	return cmp.Or(cmp.Compare(w.source.Quality(), other.source.Quality()), cmp.Compare(lead, 0))
}

func (e *entry) worth() worth {
	return worth{answered: e.answered(), source: e.source, observed: e.observed}
}

func (in *incoming) worth() worth {
	return worth{answered: in.answered, source: in.source, observed: in.observed}
}

// worthOf: what was written down is as true now as when it was written.
func (e *entry) worthOf(now int64) worth {
	w := e.worth()
	if !e.source.Measured() {
		w.observed = now
	}
	return w
}
