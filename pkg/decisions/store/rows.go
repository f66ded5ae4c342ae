package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// How many rows one statement inserts. On PostgreSQL each statement is a way to the server and back. SQLite is in this
// process, and its driver's time to bind parameters grows with the square of their number.
const (
	chunkPostgres = 100
	chunkSQLite   = 2
)

// insertion is a statement that inserts any number of rows of one table.
type insertion struct {
	table   string
	columns []string
	// then follows the values: ON CONFLICT and RETURNING.
	then string
}

func (i insertion) sql(rows int) string {
	var text strings.Builder
	text.WriteString("INSERT INTO " + i.table + " (" + strings.Join(i.columns, ", ") + ") VALUES ")
	parameter := 1
	for row := range rows {
		if row > 0 {
			text.WriteString(", ")
		}
		text.WriteByte('(')
		for column := range i.columns {
			if column > 0 {
				text.WriteString(", ")
			}
			text.WriteByte('$')
			text.WriteString(strconv.Itoa(parameter))
			parameter++
		}
		text.WriteByte(')')
	}
	text.WriteString(" " + i.then)
	return text.String()
}

// run inserts rows, each with a value for every column. Where the statement returns rows, scan is called for each.
func (i insertion) run(ctx context.Context, tx transaction, rows [][]any, scan func(*sql.Rows) error) error {
	var statement *sql.Stmt
	prepared := 0
	defer func() {
		if statement != nil {
			_ = statement.Close() // it only reads the answer of the server that it has nothing more to say
		}
	}()
	for part := range slices.Chunk(rows, tx.chunk) {
		if prepared != len(part) {
			next, err := tx.PrepareContext(ctx, i.sql(len(part)))
			if err != nil {
				return fmt.Errorf("preparing to store in %s: %w", i.table, err)
			}
			if statement != nil {
				_ = statement.Close()
			}
			statement, prepared = next, len(part)
		}
		if err := runPart(ctx, statement, slices.Concat(part...), scan); err != nil {
			return fmt.Errorf("storing %d rows in %s: %w", len(part), i.table, err)
		}
	}
	return nil
}

func runPart(ctx context.Context, statement *sql.Stmt, arguments []any, scan func(*sql.Rows) error) error {
	if scan == nil {
		_, err := statement.ExecContext(ctx, arguments...)
		return err
	}
	rows, err := statement.QueryContext(ctx, arguments...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // what went wrong with them, rows.Err tells
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transaction is a transaction that knows how many rows to insert at once.
type transaction struct {
	*sql.Tx
	chunk int
}

// inTx runs f in a transaction that writes.
func (s *Store) inTx(ctx context.Context, f func(transaction) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	chunk := chunkPostgres
	if s.sqlite {
		chunk = chunkSQLite
	}
	if err := f(transaction{tx, chunk}); err != nil {
		// After an error the transaction is void anyway; what matters is the first error.
		_ = tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// text is a string that both databases take: PostgreSQL refuses zero bytes and what is not UTF-8.
func text(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
