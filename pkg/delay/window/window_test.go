package window

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

func TestAWindowSummarisesWhatWasAnsweredLately(t *testing.T) {
	start := time.Unix(1000, 0)
	type step struct {
		after    time.Duration
		answered []time.Duration
		lost     int
	}
	repeat := func(rtt time.Duration, n int) []time.Duration { return slices.Repeat([]time.Duration{rtt}, n) }
	tests := []struct {
		name  string
		steps []step
		want  Summary
	}{
		{name: "nothing was probed"},
		{
			name:  "a median is an answered time, of an even number the lower one of the middle",
			steps: []step{{answered: []time.Duration{4 * ms, 1 * ms, 3 * ms, 2 * ms}}},
			want:  Summary{At: start, Samples: 4, P50: 2 * ms, Answered: true}, // 4 answers are too few for a 99th percentile
		},
		{
			// Of 100 answers the 99th.
			name:  "a 99th percentile needs 20 answers",
			steps: []step{{answered: slices.Concat(repeat(ms, 98), []time.Duration{5 * ms, 9 * ms})}},
			want:  Summary{At: start, Samples: 100, P50: ms, P99: 5 * ms, Answered: true},
		},
		{
			name:  "losses count beside answers",
			steps: []step{{answered: repeat(ms, 3), lost: 2}},
			want:  Summary{At: start, Samples: 5, Lost: 2, P50: ms, Answered: true},
		},
		{
			name:  "what is older than the window is forgotten",
			steps: []step{{answered: repeat(9*ms, 5)}, {after: 61 * time.Second, answered: repeat(ms, 3)}},
			want:  Summary{At: start.Add(61 * time.Second), Samples: 3, P50: ms, Answered: true},
		},
		{
			name:  "one silent round is a loss like others",
			steps: []step{{answered: repeat(ms, 5)}, {after: time.Second, lost: 5}},
			want:  Summary{At: start.Add(time.Second), Samples: 10, Lost: 5, P50: ms, Answered: true},
		},
		{
			name:  "two in a row are a cut, and the last known time stays",
			steps: []step{{answered: repeat(ms, 5)}, {after: time.Second, lost: 5}, {after: time.Second, lost: 5}},
			want:  Summary{At: start.Add(2 * time.Second), Samples: 5, Lost: 5, P50: ms, Answered: true},
		},
		{
			name: "the first answer after a cut ends it, and what was lost meanwhile is history",
			steps: []step{
				{answered: repeat(ms, 5)},
				{after: time.Second, lost: 5},
				{after: time.Second, lost: 5},
				{after: time.Second, lost: 5},
				{after: time.Second, answered: repeat(7*ms, 4), lost: 1},
			},
			want: Summary{At: start.Add(4 * time.Second), Samples: 5, Lost: 1, P50: 7 * ms, Answered: true},
		},
		{
			name:  "a path that never answered has no time",
			steps: []step{{lost: 5}, {after: time.Second, lost: 5}},
			want:  Summary{At: start.Add(time.Second), Samples: 5, Lost: 5},
		},
		{
			name:  "a round that sent nothing changes nothing",
			steps: []step{{answered: repeat(ms, 5)}, {after: time.Second}},
			want:  Summary{At: start, Samples: 5, P50: ms, Answered: true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, now := Window{}, start
			for _, s := range tt.steps {
				now = now.Add(s.after)
				w.Add(now, time.Minute, s.answered, s.lost)
			}
			if diff := cmp.Diff(tt.want, w.Summary()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Nearest rank by its definition: the smallest time such that at least the share of all is not longer.
func TestNearestRankIsWhatItsDefinitionSays(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for range 100 {
		times := make([]time.Duration, 1+random.IntN(200))
		for i := range times {
			times[i] = time.Duration(random.IntN(50))
		}
		slices.Sort(times)
		for _, percent := range []int{50, 99} {
			want := time.Duration(-1)
			for _, candidate := range times {
				notLonger := len(slices.DeleteFunc(slices.Clone(times), func(d time.Duration) bool { return d > candidate }))
				if notLonger*100 >= percent*len(times) {
					want = candidate
					break
				}
			}
			if got := nearestRank(times, float64(percent)/100); got != want {
				t.Fatalf("%d %% of %v: %d, want %d", percent, times, got, want)
			}
		}
	}
}

func TestAWindowIsBounded(t *testing.T) {
	w := Window{}
	for i := range 24 {
		w.Add(time.Unix(int64(i), 0), time.Hour, slices.Repeat([]time.Duration{ms}, MaxSamples/8), 0)
	}
	if len(w.samples) != MaxSamples {
		t.Errorf("%d samples are kept, want %d", len(w.samples), MaxSamples)
	}
}
