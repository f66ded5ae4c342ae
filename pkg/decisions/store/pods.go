package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// sorted are the keys in order. Rows are written in one order by everybody: two services that update the same rows of a
// PostgreSQL in different orders would wait for each other.
func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

func upsertPods() insertion {
	return insertion{
		table: "pods",
		columns: []string{
			"uid", "namespace", "name", "owner", "node", "phase", "created", "decided", "bound", "started", "ended", "gone",
			"attempts", "last_at", "outcome", "plugin", "reason",
		},
		then: `ON CONFLICT (uid) DO UPDATE SET
  owner    = CASE WHEN excluded.owner <> '' THEN excluded.owner ELSE pods.owner END,
  node     = CASE WHEN excluded.node <> '' THEN excluded.node ELSE pods.node END,
  phase    = CASE WHEN excluded.phase <> '' THEN excluded.phase ELSE pods.phase END,
  created  = CASE WHEN pods.created = 0 OR (excluded.created > 0 AND excluded.created < pods.created)
                  THEN excluded.created ELSE pods.created END,
  decided  = CASE WHEN excluded.decided > 0 THEN excluded.decided ELSE pods.decided END,
  bound    = CASE WHEN pods.bound = 0 OR (excluded.bound > 0 AND excluded.decided > 0) THEN excluded.bound ELSE pods.bound END,
  started  = CASE WHEN excluded.started > 0 THEN excluded.started ELSE pods.started END,
  ended    = CASE WHEN excluded.ended < pods.ended THEN excluded.ended ELSE pods.ended END,
  gone     = CASE WHEN excluded.gone = 1 THEN 1 ELSE pods.gone END,
  attempts = CASE WHEN excluded.attempts > pods.attempts THEN excluded.attempts ELSE pods.attempts END,
  outcome  = CASE WHEN excluded.last_at >= pods.last_at AND excluded.last_at > 0 THEN excluded.outcome ELSE pods.outcome END,
  plugin   = CASE WHEN excluded.last_at >= pods.last_at AND excluded.last_at > 0 THEN excluded.plugin ELSE pods.plugin END,
  reason   = CASE WHEN excluded.last_at >= pods.last_at AND excluded.last_at > 0 THEN excluded.reason ELSE pods.reason END,
  last_at  = CASE WHEN excluded.last_at > pods.last_at THEN excluded.last_at ELSE pods.last_at END`,
	}
}

// SavePods adds what is said about pods to what is known of them. What is not said stays as it is; pods have a UID.
func (s *Store) SavePods(ctx context.Context, pods []Pod) error {
	return s.inTx(ctx, func(tx transaction) error { return savePods(ctx, tx, pods) })
}

func savePods(ctx context.Context, tx transaction, pods []Pod) error {
	byUID := make(map[string]Pod, len(pods))
	for _, pod := range pods {
		if known, ok := byUID[pod.UID]; ok {
			pod = merge(known, pod)
		}
		byUID[pod.UID] = pod
	}
	rows := make([][]any, 0, len(byUID))
	for _, uid := range sorted(byUID) {
		p := byUID[uid]
		ended := open
		if !p.Ended.IsZero() {
			ended = nanos(p.Ended)
		}
		rows = append(rows, []any{
			text(p.UID), text(p.Namespace), text(p.Name), text(p.Owner), text(p.Node), text(p.Phase), nanos(p.Created),
			nanos(p.Decided), nanos(p.Bound), nanos(p.Started), ended, flag(p.Gone), p.Attempts, nanos(p.LastAt),
			text(string(p.Outcome)), text(p.Plugin), text(p.Reason),
		})
	}
	return upsertPods().run(ctx, tx, rows, nil)
}

// merge is the statement of upsertPods for two rows of one statement, which may not touch a row twice.
func merge(known, news Pod) Pod {
	out := known
	out.Owner = cmp.Or(news.Owner, known.Owner)
	out.Node = cmp.Or(news.Node, known.Node)
	out.Phase = cmp.Or(news.Phase, known.Phase)
	out.Created, out.Ended = earlier(known.Created, news.Created), earlier(known.Ended, news.Ended)
	out.Decided = cmp.Or(news.Decided, known.Decided)
	out.Started = cmp.Or(news.Started, known.Started)
	// The scheduler knows it to the nanosecond, the API server to the second.
	if known.Bound.IsZero() || (!news.Bound.IsZero() && !news.Decided.IsZero()) {
		out.Bound = news.Bound
	}
	out.Gone = known.Gone || news.Gone
	out.Attempts = max(known.Attempts, news.Attempts)
	if !news.LastAt.IsZero() && !news.LastAt.Before(known.LastAt) {
		out.LastAt, out.Outcome, out.Plugin, out.Reason = news.LastAt, news.Outcome, news.Plugin, news.Reason
	}
	return out
}

// earlier is the earlier of two times, of those that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// SaveNodes stores nodes as they are now. A zero Added or Removed leaves what is known.
func (s *Store) SaveNodes(ctx context.Context, nodes []Node) error {
	byUID := make(map[string]Node, len(nodes))
	for _, node := range nodes {
		known := byUID[node.UID]
		node.Added, node.Removed = cmp.Or(node.Added, known.Added), cmp.Or(node.Removed, known.Removed)
		byUID[node.UID] = node
	}
	rows := make([][]any, 0, len(byUID))
	for _, uid := range sorted(byUID) {
		n := byUID[uid]
		rows = append(rows, []any{text(n.UID), text(n.Name), text(n.Zone), flag(n.Ready), nanos(n.Added), nanos(n.Removed)})
	}
	return s.inTx(ctx, func(tx transaction) error {
		return insertion{
			table:   "nodes",
			columns: []string{"uid", "name", "zone", "ready", "added", "removed"},
			then: `ON CONFLICT (uid) DO UPDATE SET name = excluded.name, zone = excluded.zone, ready = excluded.ready,
  added = CASE WHEN excluded.added > 0 THEN excluded.added ELSE nodes.added END,
  removed = CASE WHEN excluded.removed > 0 THEN excluded.removed ELSE nodes.removed END`,
		}.run(ctx, tx, rows, nil)
	})
}
