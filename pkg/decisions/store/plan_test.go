package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// planned are the questions whose answers must not take longer as the database grows, and the index that each must use.
func planned() map[string]struct {
	query *query
	index string
} {
	at := time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)
	after := &Cursor{At: at.UnixNano(), ID: 7}
	history := func(namespace, name, uid string) *query { return historyQuery(namespace, name, uid, 20) }
	return map[string]struct {
		query *query
		index string
	}{
		"list":                       {listQuery(Filter{Limit: 100}), "decisions_at"},
		"a further page":             {listQuery(Filter{Limit: 100, After: after}), "decisions_at"},
		"a span of time":             {listQuery(Filter{Limit: 100, Since: at, Until: at.Add(time.Hour)}), "decisions_at"},
		"a namespace":                {listQuery(Filter{Limit: 100, Namespaces: []string{"n"}}), "decisions_namespace"},
		"a namespace's further page": {listQuery(Filter{Limit: 100, Namespaces: []string{"n"}, After: after}), "decisions_namespace"},
		"a pod":                      {listQuery(Filter{Limit: 100, Pod: "p"}), "decisions_pod"},
		"a UID":                      {listQuery(Filter{Limit: 100, PodUID: "u"}), "decisions_uid"},
		"a node":                     {listQuery(Filter{Limit: 100, Node: "n"}), "decisions_node"},
		"an outcome":                 {listQuery(Filter{Limit: 100, Outcome: trace.OutcomeError}), "decisions_outcome"},
		"a plugin":                   {listQuery(Filter{Limit: 100, Plugin: "p"}), "decisions_plugin"},
		"explain by name":            {history("n", "p", ""), "decisions_pod"},
		"explain by UID":             {history("", "", "u"), "decisions_uid"},
	}
}

func plan(ctx context.Context, t *testing.T, s *Store, prefix string, q *query) string {
	t.Helper()
	explained := &query{arguments: q.arguments}
	explained.text.WriteString(prefix + q.text.String())
	var lines []string
	err := s.each(ctx, explained, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return err
		}
		lines = append(lines, fmt.Sprint(*values[len(values)-1].(*any)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestPlansUseIndexes: a walk along an index, without looking at every row and without sorting.
func TestPlansUseIndexes(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, c := range planned() {
		got := plan(t.Context(), t, s, "EXPLAIN QUERY PLAN ", c.query)
		if !strings.Contains(got, "INDEX "+c.index+" ") && !strings.HasSuffix(got, "INDEX "+c.index) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s: want index %s and no sorting, found\n%s", name, c.index, got)
		}
	}
}

// PlansOnPostgres is the same for PostgreSQL, which looks at what tables hold: the test that calls it fills them first.
func PlansOnPostgres(ctx context.Context, t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.write.ExecContext(ctx, "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	for name, c := range planned() {
		got := plan(ctx, t, s, "EXPLAIN ", c.query)
		if !strings.Contains(got, "using decisions_") || strings.Contains(got, "Seq Scan") {
			t.Errorf("%s: want an index, found\n%s", name, got)
		}
	}
}
