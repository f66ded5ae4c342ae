package store_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// batchSize is what the scheduler's sink sends at once.
const batchSize = 200

// record is number n. Each tenth is of a pod that no node took, for one of seven reasons. Of these, nine in ten are bound
// by the next record, so that one pod in a hundred stays pending.
func record(n int) *trace.Record {
	r := storetest.Bound("bench", n)
	if n%10 != 0 {
		return r
	}
	plugins := []string{"DiskIO", "EdgeDelay", "CacheAware", "NodeResourcesFit", "NodeAffinity", "VolumeBinding", "PodTopologySpread"}
	r = storetest.Unschedulable("bench", n, plugins[n/10%7], "reason number "+strconv.Itoa(n/10%7))
	if n%100 != 0 {
		r.Pod = storetest.Bound("bench", n+1).Pod
	}
	return r
}

func fill(b *testing.B, s *store.Store, from, to int) {
	b.Helper()
	batch := make([]store.Decision, 0, batchSize)
	for n := from; n < to; n++ {
		r := record(n)
		if batch = append(batch, storetest.Decision(b, r)); len(batch) < batchSize && n < to-1 {
			continue
		}
		if _, err := s.SaveDecisions(b.Context(), now(), batch); err != nil {
			b.Fatal(err)
		}
		batch = batch[:0]
	}
}

func openBench(b *testing.B, address string) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkSaveDecisions stores batches of 200 records, with what belongs to them. The budget is 2,000 records a second.
func BenchmarkSaveDecisions(b *testing.B) {
	for name, address := range map[string]func() string{
		"SQLite":     func() string { return filepath.Join(b.TempDir(), "decisions.db") },
		"PostgreSQL": func() string { return storetest.Postgres(b).Database(b) },
	} {
		b.Run(name, func(b *testing.B) {
			s := openBench(b, address())
			next := 1
			b.ReportAllocs()
			for b.Loop() {
				fill(b, s, next, next+batchSize)
				next += batchSize
			}
			b.ReportMetric(float64(next-1)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkQueries asks a database of BENCH_RECORDS records (default 20,000; the budget is for 1,000,000) what the page and
// the command line ask, each time about another pod, node or namespace. Budget: p99 below 50 ms.
func BenchmarkQueries(b *testing.B) {
	total, err := strconv.Atoi(cmp.Or(os.Getenv("BENCH_RECORDS"), "20000"))
	if err != nil {
		b.Fatal(err)
	}
	// BENCH_DATABASE keeps a database between runs: a million records take minutes to store.
	s := openBench(b, cmp.Or(os.Getenv("BENCH_DATABASE"), filepath.Join(b.TempDir(), "decisions.db")))
	if rows, err := s.List(b.Context(), store.Filter{Limit: 1}); err != nil || len(rows) == 0 || int(rows[0].Sequence) < total {
		fill(b, s, 1, total+1)
		if _, err := s.Enforce(b.Context(), now(), store.Retention{}); err != nil {
			b.Fatal(err)
		}
	}
	list := func(f store.Filter) func(int) error {
		return func(int) error {
			_, err := s.List(b.Context(), f)
			return err
		}
	}
	ofAll := func(n int) int { return 1 + n*7919%total }
	for _, q := range []struct {
		name string
		ask  func(n int) error
	}{
		{"list", list(store.Filter{Limit: 100})},
		{"list a deep page", func(n int) error {
			at := storetest.Epoch().Add(time.Duration(ofAll(n)) * 10 * time.Millisecond)
			_, err := s.List(b.Context(), store.Filter{Limit: 100, After: &store.Cursor{At: at.UnixNano(), ID: 1 << 60}})
			return err
		}},
		{"list a namespace", list(store.Filter{Limit: 100, Namespaces: []string{"team-3"}})},
		{"list three namespaces", list(store.Filter{Limit: 100, Namespaces: []string{"team-3", "team-4", "team-0"}})},
		{"list a node", list(store.Filter{Limit: 100, Node: "node-42"})},
		{"list unschedulable", list(store.Filter{Limit: 100, Outcome: trace.OutcomeUnschedulable})},
		{"list a plugin", list(store.Filter{Limit: 100, Plugin: "EdgeDelay"})},
		{"list unschedulable of a namespace", list(store.Filter{Limit: 100, Namespaces: []string{"team-0"}, Outcome: trace.OutcomeUnschedulable})},
		{"explain", func(n int) error {
			pod := ofAll(n) | 1 // odd numbers are those of pods that were bound
			rows, err := s.History(b.Context(), "team-"+strconv.Itoa(pod%10), "pod-"+strconv.Itoa(pod), "", 20)
			if err == nil {
				err = proto.Unmarshal(rows[0].Payload, &tracev1.Record{})
			}
			return err
		}},
		{"pending", func(int) error {
			_, err := s.Pending(b.Context(), []string{"team-0"}, 5, 50)
			return err
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				if err := q.ask(len(took)); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
		})
	}
}
