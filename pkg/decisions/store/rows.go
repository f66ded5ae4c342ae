package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// chunk is how many rows one statement inserts: enough that the way to the server does not count, and few enough that
// chunk * columns stays below the 32766 parameters that SQLite takes.
const chunk = 100

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
func (i insertion) run(ctx context.Context, tx *sql.Tx, rows [][]any, scan func(*sql.Rows) error) error {
	for begin := 0; begin < len(rows); begin += chunk {
		part := rows[begin:min(begin+chunk, len(rows))]
		arguments := make([]any, 0, len(part)*len(i.columns))
		for _, row := range part {
			arguments = append(arguments, row...)
		}
		if err := i.runPart(ctx, tx, i.sql(len(part)), arguments, scan); err != nil {
			return fmt.Errorf("storing %d rows in %s: %w", len(part), i.table, err)
		}
	}
	return nil
}

func (i insertion) runPart(ctx context.Context, tx *sql.Tx, text string, arguments []any, scan func(*sql.Rows) error) error {
	if scan == nil {
		_, err := tx.ExecContext(ctx, text, arguments...)
		return err
	}
	rows, err := tx.QueryContext(ctx, text, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// inTx runs f in a transaction that writes.
func (s *Store) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := f(tx); err != nil {
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
