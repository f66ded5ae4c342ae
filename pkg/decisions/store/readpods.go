package store

import (
	"context"
	"database/sql"
	"time"
)

const podColumns = "uid, namespace, name, owner, node, phase, created, decided, bound, started, ended, gone, attempts, " +
	"last_at, outcome, plugin, reason"

func scanPod(rows *sql.Rows) (Pod, error) {
	var p Pod
	var created, decided, bound, started, ended, lastAt int64
	var gone int
	err := rows.Scan(&p.UID, &p.Namespace, &p.Name, &p.Owner, &p.Node, &p.Phase, &created, &decided, &bound, &started, &ended,
		&gone, &p.Attempts, &lastAt, &p.Outcome, &p.Plugin, &p.Reason)
	p.Created, p.Decided, p.Bound, p.Started = fromNanos(created), fromNanos(decided), fromNanos(bound), fromNanos(started)
	p.Ended, p.Gone, p.LastAt = fromNanos(ended), gone != 0, fromNanos(lastAt)
	return p, err
}

func (s *Store) pods(ctx context.Context, q *query) ([]Pod, error) {
	var out []Pod
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		pod, err := scanPod(rows)
		out = append(out, pod)
		return err
	})
	return out, err
}

// Pods returns the pods of a name, the youngest first. Several have had it if they came one after the other.
func (s *Store) Pods(ctx context.Context, namespace, name string, limit int) ([]Pod, error) {
	q := &query{}
	q.text.WriteString("SELECT " + podColumns + " FROM pods WHERE ")
	q.add("namespace = %s", text(namespace))
	q.add("name = %s", text(name))
	q.text.WriteString(" ORDER BY created DESC, last_at DESC LIMIT " + q.parameter(limit))
	return s.pods(ctx, q)
}

// PodByUID returns a pod, or ErrNotFound.
func (s *Store) PodByUID(ctx context.Context, uid string) (Pod, error) {
	q := &query{}
	q.text.WriteString("SELECT " + podColumns + " FROM pods WHERE ")
	q.add("uid = %s", text(uid))
	pods, err := s.pods(ctx, q)
	if err != nil {
		return Pod{}, err
	}
	if len(pods) == 0 {
		return Pod{}, ErrNotFound
	}
	return pods[0], nil
}

// Pending groups the pods that have no node by what stood in their way last, the largest group first. sample is how many
// pods of each group are named, limit how many groups there are at most.
func (s *Store) Pending(ctx context.Context, namespaces []string, sample, limit int) ([]PendingGroup, error) {
	q := &query{}
	q.text.WriteString("SELECT plugin, reason, COUNT(*), MIN(created) FROM pods WHERE ")
	pendingOnly(q, namespaces)
	q.text.WriteString(" GROUP BY plugin, reason ORDER BY COUNT(*) DESC, plugin, reason LIMIT " + q.parameter(limit))
	var groups []PendingGroup
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		var g PendingGroup
		var oldest int64
		err := rows.Scan(&g.Plugin, &g.Reason, &g.Pods, &oldest)
		g.Oldest = fromNanos(oldest)
		groups = append(groups, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range groups {
		if groups[i].Sample, err = s.pendingSample(ctx, namespaces, groups[i], sample); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

func pendingOnly(q *query, namespaces []string) {
	q.is("node = ''")
	q.is("gone = 0")
	q.namespaces(namespaces)
}

func (s *Store) pendingSample(ctx context.Context, namespaces []string, g PendingGroup, limit int) ([]Pod, error) {
	q := &query{}
	q.text.WriteString("SELECT " + podColumns + " FROM pods WHERE ")
	pendingOnly(q, namespaces)
	q.add("plugin = %s", g.Plugin)
	q.add("reason = %s", g.Reason)
	q.text.WriteString(" ORDER BY created, uid LIMIT " + q.parameter(limit))
	return s.pods(ctx, q)
}

// Stays returns the pods that were on a node at any time from since to before until, in the order in which they were
// bound. An empty node stands for all.
func (s *Store) Stays(ctx context.Context, since, until time.Time, namespaces []string, node string, limit int) ([]Pod, error) {
	q := &query{}
	q.text.WriteString("SELECT " + podColumns + " FROM pods WHERE ")
	q.is("node <> ''")
	q.equal("node", node)
	q.add("ended >= %s", nanos(since))
	q.add("bound < %s", nanos(until))
	q.namespaces(namespaces)
	q.text.WriteString(" ORDER BY bound, uid LIMIT " + q.parameter(limit))
	return s.pods(ctx, q)
}

// Nodes returns the nodes that were there at any time from since to before until, in the order of their names.
func (s *Store) Nodes(ctx context.Context, since, until time.Time) ([]Node, error) {
	q := &query{}
	q.text.WriteString("SELECT uid, name, zone, ready, added, removed FROM nodes WHERE ")
	q.add("added < %s", nanos(until))
	q.add("(removed = 0 OR removed >= %s)", nanos(since))
	q.text.WriteString(" ORDER BY name, added")
	var out []Node
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		var n Node
		var ready int
		var added, removed int64
		err := rows.Scan(&n.UID, &n.Name, &n.Zone, &ready, &added, &removed)
		n.Ready, n.Added, n.Removed = ready != 0, fromNanos(added), fromNanos(removed)
		out = append(out, n)
		return err
	})
	return out, err
}

// Namespaces returns the names of all namespaces that pods were in.
func (s *Store) Namespaces(ctx context.Context) ([]string, error) {
	// A walk from name to name along the index: there are far more pods than namespaces.
	q := &query{}
	q.text.WriteString(`WITH RECURSIVE names (name) AS (
  SELECT MIN(namespace) FROM pods
  UNION ALL
  SELECT (SELECT MIN(namespace) FROM pods WHERE namespace > names.name) FROM names WHERE names.name IS NOT NULL
) SELECT name FROM names WHERE name IS NOT NULL ORDER BY name`)
	var out []string
	err := s.each(ctx, q, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		out = append(out, name)
		return err
	})
	return out, err
}

// Living returns, by UID, the pods and nodes whose end is not known.
func (s *Store) Living(ctx context.Context) (map[string]Pod, map[string]Node, error) {
	q := &query{}
	q.text.WriteString("SELECT " + podColumns + " FROM pods WHERE ")
	q.is("gone = 0")
	living, err := s.pods(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	pods := make(map[string]Pod, len(living))
	for _, pod := range living {
		pods[pod.UID] = pod
	}
	// Those that are there at the end of time.
	there, err := s.Nodes(ctx, time.Unix(0, open), time.Unix(0, open))
	if err != nil {
		return nil, nil, err
	}
	nodes := make(map[string]Node, len(there))
	for _, node := range there {
		nodes[node.UID] = node
	}
	return pods, nodes, nil
}
