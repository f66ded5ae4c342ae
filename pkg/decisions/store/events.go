package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// SaveEvents stores what happened. An event whose identity is known is left out; the number of new ones is returned.
func (s *Store) SaveEvents(ctx context.Context, now time.Time, events []Event) (int, error) {
	rows := make([][]any, 0, len(events))
	seen := make(map[string]bool, len(events))
	for _, e := range events {
		if seen[e.Identity] {
			continue
		}
		seen[e.Identity] = true
		extra := ""
		if len(e.Extra) > 0 {
			encoded, err := json.Marshal(e.Extra)
			if err != nil {
				return 0, fmt.Errorf("encoding an event's extra fields: %w", err)
			}
			extra = string(encoded)
		}
		at := e.Time
		if at.IsZero() || at.After(now.Add(maxAhead)) || at.Year() < 1970 {
			at = now
		}
		rows = append(rows, []any{
			text(e.Identity), at.UnixNano(), now.UnixNano(), text(e.Object), text(e.Namespace), text(e.Name), text(e.UID), text(e.Node),
			text(e.Endpoint), text(e.Event.Event), text(e.Reason), text(e.Message), text(extra),
		})
	}
	inserted := 0
	err := s.inTx(ctx, func(tx transaction) error {
		return insertion{
			table: "events",
			columns: []string{
				"identity", "at", "received", "object", "namespace", "name", "uid", "node", "endpoint", "event", "reason", "message", "extra",
			},
			then: "ON CONFLICT (identity) DO NOTHING RETURNING id",
		}.run(ctx, tx, rows, func(*sql.Rows) error {
			inserted++
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return inserted, nil
}

// EventFilter says which events to return. Zero values do not filter.
type EventFilter struct {
	// Namespaces are as in Filter. Events of nodes have none, nor have those that the predecessor's clients send.
	Namespaces   []string
	Object, Name string
	// Since is included, Until is not.
	Since, Until time.Time
	Limit        int
}

// Events returns events, newest first.
func (s *Store) Events(ctx context.Context, f EventFilter) ([]Event, error) {
	q := &query{}
	q.text.WriteString("SELECT id, identity, at, object, namespace, name, uid, node, endpoint, event, reason, message, extra " +
		"FROM events WHERE ")
	q.is("1 = 1")
	q.namespaces(f.Namespaces)
	q.equal("object", f.Object)
	q.equal("name", f.Name)
	if !f.Since.IsZero() {
		q.add("at >= %s", nanos(f.Since))
	}
	if !f.Until.IsZero() {
		q.add("at < %s", nanos(f.Until))
	}
	q.text.WriteString(" ORDER BY at DESC, id DESC LIMIT " + q.parameter(max(f.Limit, 1)))
	var out []Event
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		var e Event
		var at int64
		var extra string
		err := rows.Scan(&e.ID, &e.Identity, &at, &e.Object, &e.Namespace, &e.Name, &e.UID, &e.Node, &e.Endpoint, &e.Event.Event,
			&e.Reason, &e.Message, &extra)
		if err == nil && extra != "" {
			err = json.Unmarshal([]byte(extra), &e.Extra)
		}
		e.Time = fromNanos(at)
		out = append(out, e)
		return err
	})
	return out, err
}
