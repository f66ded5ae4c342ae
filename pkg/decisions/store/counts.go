package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	// countSpan is the resolution of charts.
	countSpan = 10 * time.Second

	measureAttempt = "attempt"
	measureQueue   = "queue"
)

type countKey struct {
	at        int64
	namespace string
	measure   string
	bucket    int
}

func (k countKey) compare(o countKey) int {
	return cmp.Or(
		cmp.Compare(k.at, o.at), strings.Compare(k.namespace, o.namespace), strings.Compare(k.measure, o.measure),
		cmp.Compare(k.bucket, o.bucket),
	)
}

func saveCounts(ctx context.Context, tx transaction, records []*trace.Record, now time.Time) error {
	counts := map[countKey]int64{}
	for _, r := range records {
		if r.Kind != trace.KindAttempt || r.Tentative {
			continue
		}
		at := orderTime(r, now)
		key := countKey{at: at - at%int64(countSpan), namespace: text(r.Pod.Namespace)}
		for measure, d := range map[string]time.Duration{measureAttempt: took(r), measureQueue: r.QueueWait} {
			key.measure, key.bucket = text(string(r.Outcome))+"/"+measure, bucketOf(d)
			counts[key]++
		}
	}
	rows := make([][]any, 0, len(counts))
	for _, key := range sortedCounts(counts) {
		rows = append(rows, []any{key.at, key.namespace, key.measure, key.bucket, counts[key]})
	}
	return insertion{
		table:   "counts",
		columns: []string{"at", "namespace", "measure", "bucket", "n"},
		then:    "ON CONFLICT (at, namespace, measure, bucket) DO UPDATE SET n = counts.n + excluded.n",
	}.run(ctx, tx, rows, nil)
}

// Rates returns what happened from since to before until, in spans of step, which is rounded up to whole countSpans.
// Spans without decisions are left out. Nil namespaces stand for all.
func (s *Store) Rates(ctx context.Context, since, until time.Time, step time.Duration, namespaces []string) ([]Rate, error) {
	width := int64(max(step, countSpan))
	width += (int64(countSpan) - width%int64(countSpan)) % int64(countSpan)
	q := query{}
	q.text.WriteString("SELECT at - at % " + fmt.Sprint(width) + " AS span, measure, bucket, CAST(SUM(n) AS BIGINT) FROM counts WHERE ")
	q.add("at >= %s", nanos(since)-nanos(since)%int64(countSpan))
	q.add("at < %s", nanos(until))
	q.namespaces(namespaces)
	q.text.WriteString(" GROUP BY span, measure, bucket ORDER BY span, measure, bucket")
	var rates []Rate
	err := s.each(ctx, &q, func(rows *sql.Rows) error {
		var at, n int64
		var measure string
		var bucket int
		if err := rows.Scan(&at, &measure, &bucket, &n); err != nil {
			return err
		}
		if len(rates) == 0 || !rates[len(rates)-1].At.Equal(fromNanos(at)) {
			rates = append(rates, Rate{At: fromNanos(at), Count: map[trace.Outcome]int64{}, Attempt: Histogram{}, Queue: Histogram{}})
		}
		rate := &rates[len(rates)-1]
		outcome, what, _ := strings.Cut(measure, "/")
		if what == measureQueue {
			rate.Queue[bucket] += n
			return nil
		}
		rate.Attempt[bucket] += n
		rate.Count[trace.Outcome(outcome)] += n
		return nil
	})
	return rates, err
}

func sortedCounts(counts map[countKey]int64) []countKey {
	return slices.SortedFunc(maps.Keys(counts), countKey.compare)
}
