package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// maxReason bounds the text by which pending pods are grouped. The whole of it is in the record.
const maxReason = 500

// recordKey is what makes a record itself.
type recordKey struct {
	session string
	seq     uint64
}

func insertDecisions() insertion {
	return insertion{
		table: "decisions",
		columns: []string{
			"session", "seq", "kind", "namespace", "pod", "pod_uid", "attempt", "tentative", "profile", "at", "received",
			"took", "queue_wait", "outcome", "node", "found", "plugin", "reason", "nodes", "feasible", "payload",
		},
		then: "ON CONFLICT (session, seq) DO NOTHING RETURNING session, seq",
	}
}

// SaveDecisions stores a batch. Records that are in the store already are left as they are. When it returns without an
// error, every record is on disk; with an error, none of the batch is. Records are valid (trace.Record.Validate).
func (s *Store) SaveDecisions(ctx context.Context, now time.Time, batch []Decision) (Saved, error) {
	fresh := make(map[recordKey]*trace.Record, len(batch))
	rows := make([][]any, 0, len(batch))
	for _, d := range batch {
		key := recordKey{text(d.Record.Session), d.Record.Sequence}
		if fresh[key] != nil {
			continue // twice in one batch
		}
		fresh[key] = d.Record
		rows = append(rows, decisionRow(d, now))
	}
	inserted := make([]*trace.Record, 0, len(rows))
	err := s.inTx(ctx, func(tx transaction) error {
		err := insertDecisions().run(ctx, tx, rows, func(rows *sql.Rows) error {
			var key recordKey
			if err := rows.Scan(&key.session, &key.seq); err != nil {
				return err
			}
			inserted = append(inserted, fresh[key])
			return nil
		})
		if err != nil || len(inserted) == 0 {
			return err
		}
		return errors.Join(
			savePods(ctx, tx, podsOf(inserted, now)), saveCounts(ctx, tx, inserted, now), saveSessions(ctx, tx, inserted, now),
		)
	})
	if err != nil {
		return Saved{}, err
	}
	return Saved{Inserted: len(inserted), Duplicates: len(batch) - len(inserted)}, nil
}

func decisionRow(d Decision, now time.Time) []any {
	r := d.Record
	plugin, reason := obstacle(r)
	return []any{
		text(r.Session), int64(r.Sequence), text(string(r.Kind)), text(r.Pod.Namespace), text(r.Pod.Name), text(r.Pod.UID),
		r.Attempt, flag(r.Tentative), text(r.Profile), orderTime(r, now), now.UnixNano(),
		int64(took(r)), int64(max(r.QueueWait, 0)), text(string(r.Outcome)), text(r.Node), text(string(r.Found)),
		text(plugin), text(reason), r.Nodes.Total, r.Nodes.Feasible, d.Payload,
	}
}

// took is how long an attempt took; a clock that jumped back does not make it negative.
func took(r *trace.Record) time.Duration {
	if r.Start.IsZero() || r.End.IsZero() {
		return 0
	}
	return max(r.End.Sub(r.Start), 0)
}

// obstacle is what stood in the way of a pod first: the plugin that ended the attempt, else the one that rejected most
// nodes. A pod that was bound had none.
func obstacle(r *trace.Record) (plugin, reason string) {
	switch {
	case r.Outcome == trace.OutcomeBound || r.Outcome == trace.OutcomeFits:
		return "", ""
	case r.Undo != nil:
		plugin, reason = r.Undo.Plugin, r.Undo.Reason
	case len(r.Rejections) > 0:
		plugin, reason = r.Rejections[0].Plugin, r.Rejections[0].Reason
	}
	reason = cmp.Or(reason, r.Message)
	if len(reason) > maxReason {
		reason = text(reason[:maxReason])
	}
	return cmp.Or(plugin, r.Plugin), reason
}

// podsOf is what records say about their pods. Trials say nothing: what they found is given back.
func podsOf(records []*trace.Record, now time.Time) []Pod {
	var pods []Pod
	for _, r := range records {
		if r.Kind != trace.KindAttempt || r.Tentative {
			continue
		}
		pod := Pod{
			UID: r.Pod.UID, Namespace: r.Pod.Namespace, Name: r.Pod.Name, Attempts: r.Attempt, Outcome: r.Outcome,
			LastAt: time.Unix(0, orderTime(r, now)),
		}
		// The watcher, where there is one, knows better.
		pod.Created = cmp.Or(r.FirstAttempt, r.Queued, r.Start)
		pod.Plugin, pod.Reason = obstacle(r)
		if r.Pod.Owner != nil {
			pod.Owner = r.Pod.Owner.Kind + "/" + r.Pod.Owner.Name
		}
		if r.Outcome == trace.OutcomeBound {
			pod.Node, pod.Bound, pod.Decided = r.Node, pod.LastAt, decidedAt(r, pod.LastAt)
		}
		pods = append(pods, pod)
	}
	return pods
}

// decidedAt is when the node had been found: when it was reserved, where the record tells.
func decidedAt(r *trace.Record, otherwise time.Time) time.Time {
	for _, phase := range r.Phases {
		if phase.Name == "Reserve" && !r.Start.IsZero() {
			return r.Start.Add(phase.Offset)
		}
	}
	return otherwise
}

func saveSessions(ctx context.Context, tx transaction, records []*trace.Record, now time.Time) error {
	type totals struct {
		scheduler   string
		first, last int64
		highest     uint64
		stored      int64
	}
	sessions := map[string]*totals{}
	for _, r := range records {
		name, at := text(r.Session), orderTime(r, now)
		t := sessions[name]
		if t == nil {
			t = &totals{scheduler: text(r.Scheduler), first: at, last: at}
			sessions[name] = t
		}
		t.first, t.last, t.highest = min(t.first, at), max(t.last, at), max(t.highest, r.Sequence)
		t.stored++
	}
	var rows [][]any
	for _, name := range sorted(sessions) {
		t := sessions[name]
		rows = append(rows, []any{name, t.scheduler, t.first, t.last, int64(t.highest), t.stored})
	}
	return insertion{
		table:   "sessions",
		columns: []string{"session", "scheduler", "first_at", "last_at", "max_seq", "stored"},
		then: `ON CONFLICT (session) DO UPDATE SET
  first_at = CASE WHEN excluded.first_at < sessions.first_at THEN excluded.first_at ELSE sessions.first_at END,
  last_at = CASE WHEN excluded.last_at > sessions.last_at THEN excluded.last_at ELSE sessions.last_at END,
  max_seq = CASE WHEN excluded.max_seq > sessions.max_seq THEN excluded.max_seq ELSE sessions.max_seq END,
  stored = sessions.stored + excluded.stored`,
	}.run(ctx, tx, rows, nil)
}
