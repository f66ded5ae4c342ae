package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// query is a statement that grows, with numbered parameters. Values never become part of the text.
type query struct {
	text       strings.Builder
	arguments  []any
	conditions int
}

// parameter adds a value and returns its name in the text.
func (q *query) parameter(value any) string {
	q.arguments = append(q.arguments, value)
	return "$" + strconv.Itoa(len(q.arguments))
}

// and begins a further condition.
func (q *query) and() {
	if q.conditions > 0 {
		q.text.WriteString(" AND ")
	}
	q.conditions++
}

// add adds a condition with one value, whose place in the format is %s.
func (q *query) add(format string, value any) {
	q.and()
	fmt.Fprintf(&q.text, format, q.parameter(value))
}

// is adds a condition without a value.
func (q *query) is(condition string) {
	q.and()
	q.text.WriteString(condition)
}

// equal adds a condition unless the value is empty.
func (q *query) equal(column, value string) {
	if value != "" {
		q.add(column+" = %s", text(value))
	}
}

// namespaces restricts the rows to some namespaces; nil does not.
func (q *query) namespaces(names []string) {
	switch {
	case names == nil:
		return
	case len(names) == 0:
		q.is("1 = 0")
	case len(names) == 1:
		q.add("namespace = %s", text(names[0]))
	default:
		parameters := make([]string, len(names))
		for i, name := range names {
			parameters[i] = q.parameter(text(name))
		}
		q.is("namespace IN (" + strings.Join(parameters, ", ") + ")")
	}
}

// each runs the query on a reading connection and calls scan for each row.
func (s *Store) each(ctx context.Context, q *query, scan func(*sql.Rows) error) error {
	rows, err := s.read.QueryContext(ctx, q.text.String(), q.arguments...)
	if err != nil {
		return fmt.Errorf("asking the database: %w", err)
	}
	defer func() { _ = rows.Close() }() // what went wrong with them, rows.Err tells
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("reading the database's answer: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the database's answer: %w", err)
	}
	return nil
}
