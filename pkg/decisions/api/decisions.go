package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/explain"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

const (
	// historyLimit is how many records of a pod are explained, defaultHistory how many are without being asked for.
	historyLimit, defaultHistory = 100, 20
	eventLimit                   = 200
	// matrixHint says how to learn about every node.
	matrixHint = "To have every node recorded, label the pod vicinity.dev/trace=full (args of plugin Sniffer: matrixLabel)."
)

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func decisionOf(row *store.Row) Decision {
	return Decision{
		ID: row.ID, Session: row.Session, Sequence: row.Sequence, Namespace: row.Namespace, Pod: row.Pod, UID: row.PodUID,
		Attempt: row.Attempt, Tentative: row.Tentative, Profile: row.Profile, Time: row.At, Outcome: row.Outcome, Node: row.Node,
		Found: row.Found, Plugin: row.Plugin, Reason: row.Reason, Nodes: row.Nodes, Feasible: row.Feasible,
		TookMs: milliseconds(row.Took), QueuedMs: milliseconds(row.QueueWait),
	}
}

func (s *server) decisions(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "namespace", "pod", "uid", "node", "outcome", "plugin", "profile", "since", "until", "limit", "after")
	f := store.Filter{
		Pod: q.text("pod"), PodUID: q.text("uid"), Node: q.text("node"), Outcome: trace.Outcome(q.text("outcome")), Plugin: q.text("plugin"),
		Profile: q.text("profile"), Since: q.time("since"), Until: q.time("until"), Limit: q.limit(), After: q.cursor(),
	}
	outcomes := []trace.Outcome{"", trace.OutcomeBound, trace.OutcomeUnschedulable, trace.OutcomeError, trace.OutcomeFits}
	if !slices.Contains(outcomes, f.Outcome) {
		q.fail("outcome: want one of %q, found %q", outcomes[1:], f.Outcome)
	}
	if q.err != nil {
		return nil, q.err
	}
	var err error
	if f.Namespaces, err = c.namespaces(ctx, q.namespaces(), s.Store.Namespaces); err != nil {
		return nil, err
	}
	rows, err := s.Store.List(ctx, f)
	if err != nil {
		return nil, err
	}
	list := DecisionList{Items: make([]Decision, 0, len(rows))}
	for i := range rows {
		list.Items = append(list.Items, decisionOf(&rows[i]))
	}
	if len(rows) == f.Limit {
		list.Next = cursorOf(&rows[len(rows)-1])
	}
	return list, nil
}

func (s *server) decision(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "node")
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		q.fail("want the number of a decision, found %q", r.PathValue("id"))
	}
	if q.err != nil {
		return nil, q.err
	}
	row, err := s.Store.Decision(ctx, id)
	if err == nil {
		err = s.mustSee(ctx, c, row.Namespace)
	}
	if err != nil {
		return nil, err
	}
	// Victims are told later, in records of their own.
	rows, err := s.Store.History(ctx, row.Namespace, row.Pod, row.PodUID, historyLimit)
	if err != nil {
		return nil, err
	}
	explained, err := s.explain(ctx, c, &row, rows)
	if node := q.text("node"); err == nil && node != "" {
		explained.WhyNot = explain.WhyNot(explained.Record, node, matrixHint)
	}
	return explained, err
}

// mustSee answers "not found" for what belongs to others, so that numbers do not tell what there is.
func (s *server) mustSee(ctx context.Context, c *caller, namespace string) error {
	for _, scope := range []string{"", namespace} {
		ok, err := c.seesPods(ctx, scope)
		if ok || err != nil {
			return err
		}
	}
	return store.ErrNotFound
}

// explain decodes a record, adds the victims that others of the pod's records tell of, and puts it into words.
func (s *server) explain(ctx context.Context, c *caller, row *store.Row, history []store.Row) (Explained, error) {
	record, err := decode(row)
	if err != nil {
		return Explained{}, err
	}
	for i := range history {
		if history[i].Kind != trace.KindVictims || history[i].Session != row.Session || history[i].Attempt != row.Attempt {
			continue
		}
		later, err := decode(&history[i])
		if err != nil || later.Preemption == nil {
			return Explained{}, err
		}
		addVictims(record, later.Preemption)
	}
	if err := s.hideStrangers(ctx, c, record); err != nil {
		return Explained{}, err
	}
	return Explained{Decision: decisionOf(row), Record: record, Explanation: explain.Attempt(record)}, nil
}

func decode(row *store.Row) (*trace.Record, error) {
	var message tracev1.Record
	if err := proto.Unmarshal(row.Payload, &message); err != nil {
		return nil, fmt.Errorf("decoding the stored record %d: %w", row.ID, err)
	}
	record := tracewire.ToRecord(&message)
	return &record, nil
}

func addVictims(record *trace.Record, more *trace.Preemption) {
	if record.Preemption == nil {
		record.Preemption = &trace.Preemption{}
	}
	p := record.Preemption
	if p.NominatedNode == "" {
		p.NominatedNode = more.NominatedNode
	}
	for _, victim := range more.Victims {
		if !slices.ContainsFunc(p.Victims, func(v trace.Victim) bool { return v.UID == victim.UID }) {
			p.Victims = append(p.Victims, victim)
		}
	}
}

// hideStrangers leaves out the names of preempted pods that the caller may not see.
func (s *server) hideStrangers(ctx context.Context, c *caller, record *trace.Record) error {
	if record.Preemption == nil {
		return nil
	}
	everywhere, err := c.seesPods(ctx, "")
	if everywhere || err != nil {
		return err
	}
	for i := range record.Preemption.Victims {
		victim := &record.Preemption.Victims[i]
		ok, err := c.seesPods(ctx, victim.Namespace)
		if err != nil {
			return err
		}
		if !ok {
			victim.Namespace, victim.Name, victim.UID = "(another namespace)", "(hidden)", ""
		}
	}
	return nil
}

// pod answers "why is it there" for a pod by name, or by UID where several have had the name.
func (s *server) pod(ctx context.Context, c *caller, r *http.Request) (any, error) {
	q := ask(r, "uid", "node", "limit")
	limit := q.number("limit", defaultHistory, 1, historyLimit)
	if q.err != nil {
		return nil, q.err
	}
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	if _, err := c.namespaces(ctx, []string{namespace}, nil); err != nil {
		return nil, err
	}
	pods, err := s.Store.Pods(ctx, namespace, name, historyLimit)
	if err != nil {
		return nil, err
	}
	chosen := 0
	if uid := q.text("uid"); uid != "" {
		chosen = slices.IndexFunc(pods, func(p store.Pod) bool { return p.UID == uid })
	}
	if chosen < 0 || len(pods) == 0 {
		text := fmt.Sprintf("nothing is known of pod %s/%s: no decision was recorded, or it was removed because of its age", namespace, name)
		return nil, &problem{http.StatusNotFound, text}
	}
	history := PodHistory{Pod: podOf(&pods[chosen]), Attempts: []Explained{}, Events: []trace.Event{}}
	for i := range pods {
		if i != chosen {
			history.Namesakes = append(history.Namesakes, podOf(&pods[i]))
		}
	}
	if err := s.addAttempts(ctx, c, &history, &pods[chosen], limit, q.text("node")); err != nil {
		return nil, err
	}
	return history, s.addEvents(ctx, &history)
}

func (s *server) addAttempts(ctx context.Context, c *caller, history *PodHistory, pod *store.Pod, limit int, node string) error {
	rows, err := s.Store.History(ctx, pod.Namespace, pod.Name, pod.UID, limit)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Kind != trace.KindAttempt {
			continue
		}
		explained, err := s.explain(ctx, c, &rows[i], rows)
		if err != nil {
			return err
		}
		if node != "" {
			explained.WhyNot = explain.WhyNot(explained.Record, node, matrixHint)
		}
		history.Attempts = append(history.Attempts, explained)
	}
	return nil
}

// addEvents adds what the watcher saw of the pod, and what the predecessor's clients, who know no UIDs and sometimes no
// namespaces, said about a pod of its name.
func (s *server) addEvents(ctx context.Context, history *PodHistory) error {
	events, err := s.Store.Events(ctx, store.EventFilter{Object: "Pod", Name: history.Pod.Name, Limit: eventLimit})
	if err != nil {
		return err
	}
	for i := range events {
		e := &events[i].Event
		if (e.UID == "" || e.UID == history.Pod.UID) && (e.Namespace == "" || e.Namespace == history.Pod.Namespace) {
			history.Events = append(history.Events, *e)
		}
	}
	return nil
}
