package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// removeAtOnce is how many rows one transaction removes: those who store wait for it.
const removeAtOnce = 2000

// Retention says what is kept. Zero values keep everything.
type Retention struct {
	// Age is how long decisions, events and ended pods are kept.
	Age time.Duration
	// Decisions is how many decisions are kept, about.
	Decisions int64
}

// Enforce removes what is too old or too much and returns how many decisions it removed.
func (s *Store) Enforce(ctx context.Context, now time.Time, r Retention) (int64, error) {
	var removed int64
	if r.Age > 0 {
		before := now.Add(-r.Age).UnixNano()
		n, err := s.removeAll(ctx, "decisions", "at < $1", before)
		removed += n
		if err != nil {
			return removed, err
		}
		for _, what := range []struct{ table, condition string }{
			{"events", "at < $1"},
			{"counts", "at < $1"},
			{"pods", "ended < $1"},
			// Without a watcher nobody tells that a pod is gone.
			{"pods", "node = '' AND last_at < $1"},
			{"nodes", "removed > 0 AND removed < $1"},
			{"sessions", "last_at < $1"},
		} {
			if _, err := s.removeAll(ctx, what.table, what.condition, before); err != nil {
				return removed, err
			}
		}
	}
	if r.Decisions > 0 {
		n, err := s.removeSurplus(ctx, r.Decisions)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, s.optimise(ctx)
}

// removeSurplus takes numbers for counts: they have gaps, so fewer decisions may stay than asked for, and never more.
func (s *Store) removeSurplus(ctx context.Context, keep int64) (int64, error) {
	var highest sql.NullInt64
	if err := s.read.QueryRowContext(ctx, "SELECT MAX(id) FROM decisions").Scan(&highest); err != nil {
		return 0, fmt.Errorf("counting decisions: %w", err)
	}
	return s.removeAll(ctx, "decisions", "id <= $1", highest.Int64-keep)
}

// removeAll removes the rows of a table that meet the condition, a few at a time.
func (s *Store) removeAll(ctx context.Context, table, condition string, value int64) (int64, error) {
	row := "ctid"
	if s.sqlite {
		row = "rowid"
	}
	statement := "DELETE FROM " + table + " WHERE " + row + " IN (SELECT " + row + " FROM " + table + " WHERE " + condition +
		" LIMIT " + strconv.Itoa(removeAtOnce) + ")"
	var removed int64
	for {
		result, err := s.write.ExecContext(ctx, statement, value)
		if err != nil {
			return removed, fmt.Errorf("removing old rows of %s: %w", table, err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return removed, fmt.Errorf("counting the removed rows of %s: %w", table, err)
		}
		removed += n
		if n < removeAtOnce {
			return removed, nil
		}
	}
}

// optimise lets SQLite learn how values are distributed; PostgreSQL does so by itself.
func (s *Store) optimise(ctx context.Context) error {
	if !s.sqlite {
		return nil
	}
	if _, err := s.write.ExecContext(ctx, "PRAGMA optimize"); err != nil {
		return fmt.Errorf("optimising the database: %w", err)
	}
	return nil
}
