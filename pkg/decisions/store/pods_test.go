package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func savePods(t *testing.T, s *store.Store, pods ...store.Pod) {
	t.Helper()
	if err := s.SavePods(t.Context(), pods); err != nil {
		t.Fatal(err)
	}
}

func pod(t *testing.T, s *store.Store, uid string) store.Pod {
	t.Helper()
	p, err := s.PodByUID(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// podsInAnyOrder: the watcher has seen the pod run and end when its decisions come out of the spool, the second before the
// first.
func podsInAnyOrder(t *testing.T, s *store.Store) {
	first, second := storetest.Unschedulable("order", 1, "DiskIO", "too slow"), storetest.Bound("order", 2)
	second.Pod, second.Attempt = first.Pod, 2
	uid := first.Pod.UID
	ran := second.End.Add(time.Second)
	savePods(t, s, store.Pod{
		UID: uid, Namespace: first.Pod.Namespace, Name: first.Pod.Name, Node: second.Node, Phase: "Succeeded",
		Created: first.Start, Started: ran, Ended: ran.Add(time.Minute),
	})
	save(t, s, second)
	save(t, s, first)
	want := store.Pod{
		UID: uid, Namespace: first.Pod.Namespace, Name: first.Pod.Name, Owner: "Job/job-0", Node: second.Node, Phase: "Succeeded",
		Created: first.Start, Decided: second.Start.Add(2200 * time.Microsecond), Bound: second.End, Started: ran,
		Ended: ran.Add(time.Minute), Attempts: 2, LastAt: second.End, Outcome: trace.OutcomeBound,
	}
	if diff := cmp.Diff(want, pod(t, s, uid)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// mergesAsItUpserts: news in one statement are merged by Go, news in several by the database. Both must come to the same.
func mergesAsItUpserts(t *testing.T, s *store.Store) {
	random := rand.New(rand.NewPCG(6, 1))
	at := func() time.Time {
		if random.IntN(2) == 0 {
			return time.Time{}
		}
		return storetest.Epoch().Add(time.Duration(random.IntN(100)) * time.Second)
	}
	word := func() string { return []string{"", "a", "b"}[random.IntN(3)] }
	for round := range 60 {
		var together, apart []store.Pod
		for range 4 {
			p := store.Pod{
				Namespace: "merge", Name: "p", Owner: word(), Node: word(), Phase: word(), Created: at(), Decided: at(), Bound: at(),
				Started: at(), Ended: at(), Gone: random.IntN(4) == 0, Attempts: random.IntN(5), LastAt: at(), Plugin: word(), Reason: word(),
			}
			if p.LastAt.IsZero() {
				p.Plugin, p.Reason = "", ""
			}
			p.UID = fmt.Sprintf("together-%d", round)
			together = append(together, p)
			p.UID = fmt.Sprintf("apart-%d", round)
			apart = append(apart, p)
		}
		savePods(t, s, together...)
		for _, p := range apart {
			savePods(t, s, p)
		}
		want, got := pod(t, s, apart[0].UID), pod(t, s, together[0].UID)
		want.UID, got.UID = "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("news %+v (-one by one +at once)\n%s", together, diff)
		}
	}
}

func groupsPending(t *testing.T, s *store.Store) {
	var records []*trace.Record
	for n := 1; n <= 5; n++ {
		records = append(records, storetest.Unschedulable("pending", n, "DiskIO", "too slow"))
	}
	records = append(records, storetest.Unschedulable("pending", 6, "EdgeDelay", "too far"))
	for _, r := range records {
		r.Pod.Namespace = "pending"
	}
	save(t, s, records...)
	savePods(t, s,
		store.Pod{UID: "pending-uid-1", Node: "n1"},                                                     // found a node meanwhile
		store.Pod{UID: "pending-uid-2", Gone: true},                                                     // deleted
		store.Pod{UID: "pending-uid-new", Namespace: "pending", Name: "new", Created: records[0].Start}, // not tried yet
	)
	groups, err := s.Pending(t.Context(), []string{"pending"}, 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	type group struct {
		plugin, reason string
		pods           int
		sample         []string
	}
	var got []group
	for _, g := range groups {
		one := group{plugin: g.Plugin, reason: g.Reason, pods: g.Pods}
		for _, p := range g.Sample {
			one.sample = append(one.sample, p.Name)
		}
		got = append(got, one)
	}
	want := []group{
		{"DiskIO", "too slow", 3, []string{"pod-3", "pod-4"}},
		{"", "", 1, []string{"new"}},
		{"EdgeDelay", "too far", 1, []string{"pod-6"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(group{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// staysOnNodes: one pod from 10 to 20 s, one from 15 s on.
func staysOnNodes(t *testing.T, s *store.Store) {
	at := func(seconds int) time.Time { return storetest.Epoch().Add(time.Duration(seconds) * time.Second) }
	savePods(t, s,
		store.Pod{UID: "stay-1", Namespace: "stays", Name: "ended", Node: "n1", Bound: at(10), Ended: at(20)},
		store.Pod{UID: "stay-2", Namespace: "stays", Name: "open", Node: "n2", Bound: at(15)},
		store.Pod{UID: "stay-3", Namespace: "stays", Name: "pending"},
	)
	for _, c := range []struct {
		name         string
		since, until int
		node         string
		want         []string
	}{
		{"before all", 0, 10, "", nil},
		{"the first only", 5, 12, "", []string{"ended"}},
		{"both", 16, 17, "", []string{"ended", "open"}},
		{"long after", 100, 200, "", []string{"open"}},
		{"one node", 16, 17, "n2", []string{"open"}},
	} {
		pods, err := s.Stays(t.Context(), at(c.since), at(c.until), []string{"stays"}, c.node, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range pods {
			got = append(got, p.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func ignoresTrials(t *testing.T, s *store.Store) {
	trial := storetest.Bound("trial", 1)
	trial.Tentative, trial.Outcome, trial.Pod.Namespace = true, trace.OutcomeFits, "trial"
	save(t, s, trial)
	if p, err := s.PodByUID(t.Context(), trial.Pod.UID); err == nil {
		t.Errorf("a trial made pod %+v", p)
	}
	if rows := mustList(t, s, store.Filter{Namespaces: []string{"trial"}, Limit: 5}); len(rows) != 1 || !rows[0].Tentative {
		t.Errorf("the list has %v, want the trial", rows)
	}
}

// countsExactly: three attempts, of which one comes twice, in two spans of ten seconds.
func countsExactly(t *testing.T, s *store.Store) {
	one, two, three := storetest.Bound("counts", 1), storetest.Unschedulable("counts", 2, "DiskIO", "x"), storetest.Bound("counts", 1500)
	for _, r := range []*trace.Record{one, two, three} {
		r.Pod.Namespace = "counts"
	}
	save(t, s, one, two, three)
	save(t, s, two)
	rates, err := s.Rates(t.Context(), storetest.Epoch(), now(), 10*time.Second, []string{"counts"})
	if err != nil {
		t.Fatal(err)
	}
	if len(rates) != 2 {
		t.Fatalf("%d spans, want 2: %+v", len(rates), rates)
	}
	want := map[trace.Outcome]int64{trace.OutcomeBound: 1, trace.OutcomeUnschedulable: 1}
	if diff := cmp.Diff(want, rates[0].Count); diff != "" {
		t.Errorf("first span (-want +got)\n%s", diff)
	}
	if got, _ := rates[0].Attempt.Quantile(0.5); got < 3600*time.Microsecond || got > 4400*time.Microsecond {
		t.Errorf("median of attempts of 4 ms: %v, want it within 10 %%", got)
	}
	if got, _ := rates[1].Queue.Quantile(0.99); got < 1800*time.Microsecond || got > 2200*time.Microsecond {
		t.Errorf("99th percentile of waits of 2 ms: %v, want it within 10 %%", got)
	}
	whole, err := s.Rates(t.Context(), storetest.Epoch(), now(), time.Hour, []string{"counts"})
	if err != nil || len(whole) != 1 || whole[0].Count[trace.OutcomeBound] != 2 {
		t.Errorf("in one span: %+v, %v; want two bound", whole, err)
	}
}

func storesEventsOnce(t *testing.T, s *store.Store) {
	event := store.Event{Identity: "pod-uid/Ready/True/1", Event: trace.Event{
		Object: "Pod", Name: "p", Namespace: "events", Event: "Ready", Time: storetest.Epoch(), Extra: map[string]string{"capacity-cpu": "4"},
	}}
	node := store.Event{Identity: "node-uid/Ready/True/1", Event: trace.Event{Object: "Node", Name: "n"}}
	for i, want := range []int{2, 0} {
		if n, err := s.SaveEvents(t.Context(), now(), []store.Event{event, node, event}); err != nil || n != want {
			t.Errorf("time %d: %d new, %v; want %d", i, n, err, want)
		}
	}
	got, err := s.Events(t.Context(), store.EventFilter{Object: "Pod", Name: "p", Limit: 10})
	if err != nil || len(got) != 1 {
		t.Fatalf("found %+v, %v; want one", got, err)
	}
	got[0].ID = 0
	if diff := cmp.Diff(event, got[0]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRetention(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		for n := 1; n <= 300; n++ { // 3 s of records
			save(t, s, storetest.Bound("old", n))
		}
		savePods(t, s, store.Pod{UID: "old-uid-1", Ended: storetest.Epoch().Add(time.Second)})
		at := storetest.Epoch().Add(time.Hour + 2*time.Second)
		// Those that ended before second 2: number n ends at n*10 ms + 4 ms, so 1 to 199.
		if removed, err := s.Enforce(t.Context(), at, store.Retention{Age: time.Hour}); err != nil || removed != 199 {
			t.Errorf("by age: %d removed, %v; want 199", removed, err)
		}
		if _, err := s.PodByUID(t.Context(), "old-uid-1"); err == nil {
			t.Error("the pod that ended is still there")
		}
		if p := pod(t, s, "old-uid-2"); p.Node != "node-2" {
			t.Errorf("the pod that still runs: %+v", p)
		}
		if removed, err := s.Enforce(t.Context(), at, store.Retention{Decisions: 40}); err != nil || removed != 61 {
			t.Errorf("by number: %d removed, %v; want 61 of 101", removed, err)
		}
		if rows := mustList(t, s, store.Filter{Limit: 1000}); len(rows) != 40 || rows[0].Pod != "pod-300" {
			t.Errorf("%d rows are left, want 40", len(rows))
		}
		names, err := s.Namespaces(t.Context())
		if err != nil || len(names) != 10 {
			t.Errorf("namespaces %v, %v; want ten", names, err)
		}
	})
}

func TestNodesComeAndGo(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		at := storetest.Epoch()
		if err := s.SaveNodes(t.Context(), []store.Node{{UID: "1", Name: "n1", Zone: "a", Added: at}, {UID: "2", Name: "n2", Added: at}}); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveNodes(t.Context(), []store.Node{
			{UID: "1", Name: "n1", Zone: "a", Ready: true}, {UID: "2", Name: "n2", Removed: at.Add(time.Minute)},
		}); err != nil {
			t.Fatal(err)
		}
		nodes, err := s.Nodes(t.Context(), at.Add(time.Hour), at.Add(2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]store.Node{{UID: "1", Name: "n1", Zone: "a", Ready: true, Added: at}}, nodes); diff != "" {
			t.Errorf("an hour later (-want +got)\n%s", diff)
		}
		if nodes, err = s.Nodes(t.Context(), at, at.Add(time.Second)); err != nil || len(nodes) != 2 {
			t.Errorf("at first: %v, %v; want both", nodes, err)
		}
	})
}
