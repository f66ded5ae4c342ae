package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// ErrNotFound means that there is no such row.
var ErrNotFound = errors.New("not found")

const rowColumns = "id, session, seq, kind, namespace, pod, pod_uid, attempt, tentative, profile, at, received, took, " +
	"queue_wait, outcome, node, found, plugin, reason, nodes, feasible"

func scanRow(rows *sql.Rows, payload bool) (Row, error) {
	var r Row
	var at, received, took, wait int64
	var tentative int
	targets := []any{
		&r.ID, &r.Session, &r.Sequence, &r.Kind, &r.Namespace, &r.Pod, &r.PodUID, &r.Attempt, &tentative, &r.Profile, &at,
		&received, &took, &wait, &r.Outcome, &r.Node, &r.Found, &r.Plugin, &r.Reason, &r.Nodes, &r.Feasible,
	}
	if payload {
		targets = append(targets, &r.Payload)
	}
	err := rows.Scan(targets...)
	r.Tentative, r.At, r.Received = tentative != 0, fromNanos(at), fromNanos(received)
	r.Took, r.QueueWait = time.Duration(took), time.Duration(wait)
	return r, err
}

// List returns attempts, newest first, without their payloads.
func (s *Store) List(ctx context.Context, f Filter) ([]Row, error) {
	if len(f.Namespaces) < 2 {
		return s.list(ctx, listQuery(f))
	}
	// A walk along the index of each namespace, and the newest of what they find: one walk for several namespaces would
	// have to sort everything that they have.
	var all []Row
	for _, namespace := range f.Namespaces {
		one := f
		one.Namespaces = []string{namespace}
		rows, err := s.list(ctx, listQuery(one))
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortFunc(all, func(a, b Row) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return all[:min(len(all), f.Limit)], nil
}

func (s *Store) list(ctx context.Context, q *query) ([]Row, error) {
	var out []Row
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		row, err := scanRow(rows, false)
		out = append(out, row)
		return err
	})
	return out, err
}

// listQuery says in its text what the partial indexes are about, so that they can be used.
func listQuery(f Filter) *query {
	q := &query{}
	q.text.WriteString("SELECT " + rowColumns + " FROM decisions WHERE ")
	q.is("kind = 'Attempt'")
	q.namespaces(f.Namespaces)
	q.equal("pod", f.Pod)
	q.equal("pod_uid", f.PodUID)
	if f.Node != "" {
		q.is("node <> ''")
		q.equal("node", f.Node)
	}
	if f.Outcome != "" {
		if f.Outcome != trace.OutcomeBound {
			q.is("outcome <> 'Bound'")
		}
		q.equal("outcome", string(f.Outcome))
	}
	if f.Plugin != "" {
		q.is("plugin <> ''")
		q.equal("plugin", f.Plugin)
	}
	q.equal("profile", f.Profile)
	if !f.Since.IsZero() {
		q.add("at >= %s", nanos(f.Since))
	}
	if !f.Until.IsZero() {
		q.add("at < %s", nanos(f.Until))
	}
	if f.After != nil {
		q.and()
		q.text.WriteString("(at, id) < (" + q.parameter(f.After.At) + ", " + q.parameter(f.After.ID) + ")")
	}
	q.text.WriteString(" ORDER BY at DESC, id DESC LIMIT " + q.parameter(max(f.Limit, 1)))
	return q
}

// Decision returns one row with its payload, or ErrNotFound.
func (s *Store) Decision(ctx context.Context, id int64) (Row, error) {
	q := &query{}
	q.text.WriteString("SELECT " + rowColumns + ", payload FROM decisions WHERE ")
	q.add("id = %s", id)
	return s.one(ctx, q)
}

// BySequence returns the record with this session and sequence, or ErrNotFound.
func (s *Store) BySequence(ctx context.Context, session string, sequence uint64) (Row, error) {
	q := &query{}
	q.text.WriteString("SELECT " + rowColumns + ", payload FROM decisions WHERE ")
	q.add("session = %s", text(session))
	q.add("seq = %s", int64(sequence))
	return s.one(ctx, q)
}

func (s *Store) one(ctx context.Context, q *query) (Row, error) {
	found := Row{}
	err := s.each(ctx, q, func(rows *sql.Rows) (err error) {
		found, err = scanRow(rows, true)
		return err
	})
	if err == nil && found.ID == 0 {
		err = ErrNotFound
	}
	return found, err
}

// History returns the last records of a pod, those of victims included, with their payloads, newest first. A pod is
// known by its UID, or by namespace and name: then the records are of the last pod of that name and its predecessors.
func (s *Store) History(ctx context.Context, namespace, name, uid string, limit int) ([]Row, error) {
	var out []Row
	err := s.each(ctx, historyQuery(namespace, name, uid, limit), func(rows *sql.Rows) error {
		row, err := scanRow(rows, true)
		out = append(out, row)
		return err
	})
	return out, err
}

func historyQuery(namespace, name, uid string, limit int) *query {
	q := &query{}
	q.text.WriteString("SELECT " + rowColumns + ", payload FROM decisions WHERE ")
	if uid != "" {
		q.add("pod_uid = %s", text(uid))
	} else {
		q.add("pod = %s", text(name))
	}
	q.equal("namespace", namespace)
	q.text.WriteString(" ORDER BY at DESC, id DESC LIMIT " + q.parameter(max(limit, 1)))
	return q
}

// Sessions returns the schedulers' lives, the latest first.
func (s *Store) Sessions(ctx context.Context, limit int) ([]Session, error) {
	q := &query{}
	q.text.WriteString("SELECT session, scheduler, first_at, last_at, max_seq, stored FROM sessions ORDER BY last_at DESC LIMIT " +
		q.parameter(limit))
	var out []Session
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		var session Session
		var first, last int64
		err := rows.Scan(&session.Name, &session.Scheduler, &first, &last, &session.Highest, &session.Stored)
		session.First, session.Last = fromNanos(first), fromNanos(last)
		out = append(out, session)
		return err
	})
	return out, err
}
