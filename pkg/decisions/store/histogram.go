package store

import (
	"math"
	"time"
)

// bucketsPerOctave makes each bucket 2^(1/4) = 1.19 times as wide as the one below: quantiles are within 10 %.
const bucketsPerOctave = 4

// Histogram counts durations in buckets of equal ratio.
type Histogram map[int]int64

// bucketOf is the bucket of a duration: 0 for a microsecond and less.
func bucketOf(d time.Duration) int {
	us := float64(d) / float64(time.Microsecond)
	if us <= 1 {
		return 0
	}
	return int(math.Floor(bucketsPerOctave*math.Log2(us))) + 1
}

// middleOf is the geometric middle of a bucket.
func middleOf(bucket int) time.Duration {
	if bucket <= 0 {
		return time.Microsecond
	}
	return time.Duration(math.Exp2((float64(bucket)-0.5)/bucketsPerOctave) * float64(time.Microsecond))
}

// Quantile returns the duration below which the share q, 0 to 1, lies; false for an empty histogram.
func (h Histogram) Quantile(q float64) (time.Duration, bool) {
	var total int64
	highest := 0
	for bucket, n := range h {
		total += n
		highest = max(highest, bucket)
	}
	if total == 0 {
		return 0, false
	}
	rank := int64(math.Ceil(q * float64(total)))
	var below int64
	for bucket := range highest + 1 {
		below += h[bucket]
		if below >= max(rank, 1) {
			return middleOf(bucket), true
		}
	}
	return middleOf(highest), true
}
