package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/explain"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

const (
	pendingGroups, pendingSample = 200, 10
	maxIntervals                 = 500
	defaultIntervals             = 60
	// maxStays is how many pods an occupancy is counted from, defaultStays how many stays a list has.
	maxStays, defaultStays = 200_000, 1000
	maxListedStays         = 20_000
	// maxRates is how many spans a chart has at most.
	maxRates = 1000
)

func podOf(p *store.Pod) Pod {
	return Pod{
		UID: p.UID, Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, Node: p.Node, Phase: p.Phase, Created: p.Created,
		Decided: p.Decided, Bound: p.Bound, Started: p.Started, Ended: p.Ended, Gone: p.Gone, Attempts: p.Attempts,
		Outcome: p.Outcome, Plugin: p.Plugin, Reason: p.Reason,
	}
}

func (s *server) pending(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "namespace", "sample")
	sample := q.number("sample", pendingSample, 0, maxLimit)
	if q.err != nil {
		return nil, q.err
	}
	namespaces, err := c.namespaces(ctx, q.namespaces(), s.Store.Namespaces)
	if err != nil {
		return nil, err
	}
	groups, err := s.Store.Pending(ctx, namespaces, sample, pendingGroups)
	if err != nil {
		return nil, err
	}
	list := PendingList{Items: []PendingGroup{}}
	for _, g := range groups {
		group := PendingGroup{
			Plugin: g.Plugin, Reason: g.Reason, Pods: g.Pods, Oldest: g.Oldest, Sample: []Pod{}, Advice: explain.Advise(g.Plugin, g.Reason),
		}
		for i := range g.Sample {
			group.Sample = append(group.Sample, podOf(&g.Sample[i]))
		}
		list.Items = append(list.Items, group)
	}
	return list, nil
}

// stays are pods on nodes: the timeline.
func (s *server) stays(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "namespace", "node", "since", "until", "limit")
	since, until := q.span(s.Clock.Now())
	limit := q.number("limit", defaultStays, 1, maxListedStays)
	if q.err != nil {
		return nil, q.err
	}
	namespaces, err := c.namespaces(ctx, q.namespaces(), s.Store.Namespaces)
	if err != nil {
		return nil, err
	}
	pods, err := s.Store.Stays(ctx, since, until, namespaces, q.text("node"), limit+1)
	if err != nil {
		return nil, err
	}
	list := PodList{Items: []Pod{}, Truncated: len(pods) > limit}
	for i := range pods[:min(len(pods), limit)] {
		list.Items = append(list.Items, podOf(&pods[i]))
	}
	return list, nil
}

func (s *server) occupancy(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "namespace", "since", "until", "intervals")
	since, until := q.span(s.Clock.Now())
	intervals := q.number("intervals", defaultIntervals, 1, maxIntervals)
	if q.err != nil {
		return nil, q.err
	}
	namespaces, err := c.namespaces(ctx, q.namespaces(), s.Store.Namespaces)
	if err != nil {
		return nil, err
	}
	pods, err := s.Store.Stays(ctx, since, until, namespaces, "", maxStays)
	if err != nil {
		return nil, err
	}
	var known []string
	// Empty nodes are worth a row for those who may know of them.
	if allowed, err := c.may(ctx, "list", "", "nodes", ""); err == nil && allowed {
		nodes, err := s.Store.Nodes(ctx, since, until)
		if err != nil {
			return nil, err
		}
		for _, node := range nodes {
			known = append(known, node.Name)
		}
	}
	answer := occupancyOf(pods, known, since, until, intervals)
	answer.Truncated = len(pods) == maxStays
	return answer, nil
}

// occupancyOf counts pods: one is in each interval that it was on its node in, if only for a part of it.
func occupancyOf(pods []store.Pod, nodes []string, since, until time.Time, intervals int) Occupancy {
	answer := Occupancy{Since: since, Until: until, Intervals: intervals, Cells: [][3]int{}}
	for i := range pods {
		nodes = append(nodes, pods[i].Node)
	}
	slices.Sort(nodes)
	answer.Nodes = slices.Compact(nodes)
	if answer.Nodes == nil {
		answer.Nodes = []string{}
	}
	width := until.Sub(since) / time.Duration(intervals)
	interval := func(at time.Time) int { return min(max(int(at.Sub(since)/max(width, 1)), 0), intervals-1) }
	counts := make([]int, len(answer.Nodes)*intervals)
	for i := range pods {
		row, _ := slices.BinarySearch(answer.Nodes, pods[i].Node)
		from, to := interval(startOf(&pods[i])), intervals-1
		if !pods[i].Ended.IsZero() {
			to = interval(pods[i].Ended)
		}
		for n := from; n <= to; n++ {
			counts[row*intervals+n]++
		}
	}
	for i, n := range counts {
		if n > 0 {
			answer.Cells = append(answer.Cells, [3]int{i / intervals, i % intervals, n})
			answer.Highest = max(answer.Highest, n)
		}
	}
	return answer
}

// startOf is since when a pod has been on its node.
func startOf(p *store.Pod) time.Time {
	if p.Bound.IsZero() {
		return p.Started
	}
	return p.Bound
}

func (s *server) rates(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "namespace", "since", "until", "stepSeconds")
	since, until := q.span(s.Clock.Now())
	step := time.Duration(q.number("stepSeconds", 10, 10, 86400)) * time.Second
	if q.err == nil && until.Sub(since)/step > maxRates {
		q.fail("stepSeconds: %d would make %d spans, want at most %d", step/time.Second, until.Sub(since)/step, maxRates)
	}
	if q.err != nil {
		return nil, q.err
	}
	namespaces, err := c.namespaces(ctx, q.namespaces(), s.Store.Namespaces)
	if err != nil {
		return nil, err
	}
	rates, err := s.Store.Rates(ctx, since, until, step, namespaces)
	if err != nil {
		return nil, err
	}
	list := RateList{StepSeconds: int((step + 9*time.Second) / (10 * time.Second) * 10), Items: []Rate{}}
	for i := range rates {
		list.Items = append(list.Items, rateOf(&rates[i]))
	}
	return list, nil
}

func rateOf(r *store.Rate) Rate {
	quantile := func(h store.Histogram, q float64) float64 {
		d, _ := h.Quantile(q) // each span has attempts
		return milliseconds(d)
	}
	return Rate{
		Time: r.At, Count: r.Count, AttemptP50: quantile(r.Attempt, 0.5), AttemptP99: quantile(r.Attempt, 0.99),
		QueueP50: quantile(r.Queue, 0.5), QueueP99: quantile(r.Queue, 0.99),
	}
}

func (s *server) events(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "namespace", "object", "name", "since", "until", "limit")
	f := store.EventFilter{Object: q.text("object"), Name: q.text("name"), Since: q.time("since"), Until: q.time("until"), Limit: q.limit()}
	if q.err != nil {
		return nil, q.err
	}
	var err error
	// Those who may not see everything see no events of nodes, nor of pods whose namespace is not known.
	if f.Namespaces, err = c.namespaces(ctx, q.namespaces(), s.Store.Namespaces); err != nil {
		return nil, err
	}
	events, err := s.Store.Events(ctx, f)
	if err != nil {
		return nil, err
	}
	list := EventList{Items: []trace.Event{}}
	for i := range events {
		list.Items = append(list.Items, events[i].Event)
	}
	return list, nil
}

func (s *server) namespaces(ctx context.Context, c *caller, r *http.Request) (any, error) {
	if q := ask(r); q.err != nil {
		return nil, q.err
	}
	allowed, err := c.namespaces(ctx, nil, s.Store.Namespaces)
	if err != nil {
		return nil, err
	}
	if allowed != nil {
		return NameList{Items: allowed}, nil
	}
	names, err := s.Store.Namespaces(ctx)
	return NameList{Items: append([]string{}, names...), All: true}, err
}

func (s *server) nodes(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "since", "until")
	since, until := q.span(s.Clock.Now())
	if q.err != nil {
		return nil, q.err
	}
	if err := c.must(ctx, "list", "", "nodes"); err != nil {
		return nil, err
	}
	nodes, err := s.Store.Nodes(ctx, since, until)
	if err != nil {
		return nil, err
	}
	list := NodeList{Items: []Node{}}
	for _, n := range nodes {
		list.Items = append(list.Items, Node{Name: n.Name, Zone: n.Zone, Ready: n.Ready, Added: n.Added, Removed: n.Removed})
	}
	return list, nil
}

// sessions are about the scheduler as a whole, so for those who may see everything.
func (s *server) sessions(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "limit")
	limit := q.limit()
	if q.err != nil {
		return nil, q.err
	}
	if err := c.must(ctx, "get", "", "pods"); err != nil {
		return nil, err
	}
	sessions, err := s.Store.Sessions(ctx, limit)
	if err != nil {
		return nil, err
	}
	list := SessionList{Items: []Session{}}
	for _, one := range sessions {
		list.Items = append(list.Items, Session{
			Name: one.Name, Scheduler: one.Scheduler, First: one.First, Last: one.Last, Stored: one.Stored,
			Missing: one.Highest - min(one.Highest, one.Stored),
		})
	}
	return list, nil
}
