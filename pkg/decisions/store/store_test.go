package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// onEach runs a test on an empty database of each kind.
func onEach(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		test(t, open(t, filepath.Join(t.TempDir(), "decisions.db")))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		if testing.Short() {
			t.Skip("starts a server: not with -short")
		}
		test(t, open(t, storetest.Postgres(t).Database(t)))
	})
}

func open(t *testing.T, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func now() time.Time { return storetest.Epoch().Add(time.Hour) }

func save(t *testing.T, s *store.Store, records ...*trace.Record) store.Saved {
	t.Helper()
	var batch []store.Decision
	for _, r := range records {
		batch = append(batch, store.Decision{Record: r, Payload: []byte(r.Pod.Name)})
	}
	saved, err := s.SaveDecisions(t.Context(), now(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func names(rows []store.Row) []string {
	out := []string{}
	for _, row := range rows {
		out = append(out, row.Pod)
	}
	return out
}

func mustList(t *testing.T, s *store.Store, f store.Filter) []store.Row {
	t.Helper()
	rows, err := s.List(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAStore(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		// One database for all: each works in sessions and namespaces of its own, and a server takes a second to start.
		for name, test := range map[string]func(*testing.T, *store.Store){
			"stores a record once however often it comes":               storesOnce,
			"gives back what it was given":                              givesBack,
			"lists newest first, page by page":                          listsByPage,
			"filters":                                                   filters,
			"keeps pods' news in any order":                             podsInAnyOrder,
			"takes every permutation of news as it takes them merged":   mergesAsItUpserts,
			"groups pending pods by what stands in their way":           groupsPending,
			"counts exactly, also what comes twice":                     countsExactly,
			"takes quotes, markup and zero bytes for what they are":     hostileNames,
			"is not confused by clocks that jump":                       clockJumps,
			"stores an event once":                                      storesEventsOnce,
			"tells which pods were on nodes":                            staysOnNodes,
			"counts sessions' records, so that gaps are seen":           countsSessions,
			"keeps trials out of the state of pods":                     ignoresTrials,
			"joins victims that are told later to the attempt's record": keepsVictims,
		} {
			t.Run(name, func(t *testing.T) { test(t, s) })
		}
	})
}

func storesOnce(t *testing.T, s *store.Store) {
	a, b := storetest.Bound("once", 1), storetest.Bound("once", 2)
	if got, want := save(t, s, a, b, a), (store.Saved{Inserted: 2, Duplicates: 1}); got != want {
		t.Errorf("first time: %+v, want %+v", got, want)
	}
	if got, want := save(t, s, b, a), (store.Saved{Duplicates: 2}); got != want {
		t.Errorf("second time: %+v, want %+v", got, want)
	}
	// The same sequence in another life of the scheduler is another record.
	if got, want := save(t, s, storetest.Bound("once-more", 1)), (store.Saved{Inserted: 1}); got != want {
		t.Errorf("another session: %+v, want %+v", got, want)
	}
}

func givesBack(t *testing.T, s *store.Store) {
	r := storetest.Unschedulable("back", 7, "DiskIO", "too slow")
	save(t, s, r)
	got, err := s.BySequence(t.Context(), "back", 7)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Row{
		Session: "back", Sequence: 7, Kind: trace.KindAttempt, Namespace: "team-7", Pod: "pod-7", PodUID: "back-uid-7", Attempt: 1,
		Profile: "vicinity-scheduler", At: r.End, Received: now(), Took: 4 * time.Millisecond, QueueWait: 2 * time.Millisecond,
		Outcome: trace.OutcomeUnschedulable, Plugin: "DiskIO", Reason: "too slow", Nodes: 100, Payload: []byte("pod-7"),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.Row{}, "ID")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if byID, err := s.Decision(t.Context(), got.ID); err != nil || byID.Sequence != 7 {
		t.Errorf("by number: %v, %v", byID, err)
	}
	if _, err := s.Decision(t.Context(), 1<<40); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown number: %v, want ErrNotFound", err)
	}
}

func listsByPage(t *testing.T, s *store.Store) {
	var records []*trace.Record
	for n := range 25 {
		r := storetest.Bound("pages", n+1)
		r.Pod.Namespace = []string{"pages-a", "pages-b"}[n%2]
		if n >= 10 {
			r.Start, r.End = records[0].Start, records[0].End // at one time: the number decides
		}
		records = append(records, r)
	}
	save(t, s, records...)
	for _, namespaces := range [][]string{{"pages-a"}, {"pages-a", "pages-b"}} {
		all := mustList(t, s, store.Filter{Namespaces: namespaces, Limit: 100})
		var paged []store.Row
		var after *store.Cursor
		for {
			page := mustList(t, s, store.Filter{Namespaces: namespaces, Limit: 4, After: after})
			paged = append(paged, page...)
			if len(page) < 4 {
				break
			}
			last := page[len(page)-1]
			after = &store.Cursor{At: last.At.UnixNano(), ID: last.ID}
		}
		if diff := cmp.Diff(names(all), names(paged)); diff != "" {
			t.Errorf("%v: pages differ from the whole (-whole +pages)\n%s", namespaces, diff)
		}
		if !slices.IsSortedFunc(all, func(a, b store.Row) int { return b.At.Compare(a.At) }) {
			t.Errorf("%v: not newest first: %v", namespaces, names(all))
		}
		if want := map[int]int{1: 13, 2: 25}[len(namespaces)]; len(all) != want {
			t.Errorf("%v: %d rows, want %d", namespaces, len(all), want)
		}
	}
	if rows := mustList(t, s, store.Filter{Namespaces: []string{}, Limit: 9}); len(rows) != 0 {
		t.Errorf("no namespace at all: found %v", names(rows))
	}
}

func filters(t *testing.T, s *store.Store) {
	one, two, three := storetest.Bound("filter", 1), storetest.Unschedulable("filter", 2, "EdgeDelay", "too far"), storetest.Bound("filter", 3)
	for _, r := range []*trace.Record{one, two, three} {
		r.Pod.Namespace = "filter"
	}
	three.Profile = "sniffer"
	save(t, s, one, two, three)
	for name, c := range map[string]struct {
		filter store.Filter
		want   []string
	}{
		"pod":         {store.Filter{Pod: "pod-1"}, []string{"pod-1"}},
		"uid":         {store.Filter{PodUID: "filter-uid-3"}, []string{"pod-3"}},
		"node":        {store.Filter{Node: "node-3"}, []string{"pod-3"}},
		"bound":       {store.Filter{Outcome: trace.OutcomeBound}, []string{"pod-3", "pod-1"}},
		"not bound":   {store.Filter{Outcome: trace.OutcomeUnschedulable}, []string{"pod-2"}},
		"plugin":      {store.Filter{Plugin: "EdgeDelay"}, []string{"pod-2"}},
		"profile":     {store.Filter{Profile: "sniffer"}, []string{"pod-3"}},
		"since":       {store.Filter{Since: two.End}, []string{"pod-3", "pod-2"}},
		"until":       {store.Filter{Until: two.End}, []string{"pod-1"}},
		"two at once": {store.Filter{Outcome: trace.OutcomeBound, Since: two.End}, []string{"pod-3"}},
		"nothing":     {store.Filter{Pod: "pod-1", Node: "node-3"}, []string{}},
	} {
		c.filter.Namespaces, c.filter.Limit = []string{"filter"}, 10
		if diff := cmp.Diff(c.want, names(mustList(t, s, c.filter))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func hostileNames(t *testing.T, s *store.Store) {
	for i, name := range []string{
		`'; DROP TABLE decisions; --`, `<script>alert(1)</script>`, `" OR "1"="1`, "$1", "@IDENTITY@", `\'`, "pod\x00name", "bad\xffutf8", strings.Repeat("ü", 5000),
	} {
		r := storetest.Bound("hostile", i+1)
		r.Pod.Name, r.Pod.Namespace = name, "hostile"
		save(t, s, r)
		rows := mustList(t, s, store.Filter{Namespaces: []string{"hostile"}, Pod: name, Limit: 5})
		want := strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", "\uFFFD"), "\uFFFD")
		if len(rows) != 1 || rows[0].Pod != want {
			t.Errorf("%q: found %q, want one %q", name, names(rows), want)
		}
	}
}

func clockJumps(t *testing.T, s *store.Store) {
	backwards, ahead, ancient := storetest.Bound("clock", 1), storetest.Bound("clock", 2), storetest.Bound("clock", 3)
	backwards.End = backwards.Start.Add(-time.Hour)
	ahead.Start, ahead.End = now().AddDate(10, 0, 0), now().AddDate(10, 0, 0).Add(time.Second)
	ancient.Start, ancient.End = time.Time{}, time.Time{}
	for _, r := range []*trace.Record{backwards, ahead, ancient} {
		r.Pod.Namespace = "clock"
	}
	save(t, s, backwards, ahead, ancient)
	rows := mustList(t, s, store.Filter{Namespaces: []string{"clock"}, Limit: 5})
	if len(rows) != 3 {
		t.Fatalf("found %v, want all three", names(rows))
	}
	for _, row := range rows {
		want, took := now(), time.Duration(0)
		switch row.Pod {
		case "pod-1":
			want = backwards.End
		case "pod-2":
			took = time.Second
		}
		if !row.At.Equal(want) || row.Took != took {
			t.Errorf("%s: at %v took %v, want %v and %v", row.Pod, row.At, row.Took, want, took)
		}
	}
}

func countsSessions(t *testing.T, s *store.Store) {
	save(t, s, storetest.Bound("gap", 1), storetest.Bound("gap", 4))
	save(t, s, storetest.Bound("gap", 4), storetest.Bound("gap", 2))
	sessions, err := s.Sessions(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sessions, func(s store.Session) bool { return s.Name == "gap" })
	if i < 0 || sessions[i].Highest != 4 || sessions[i].Stored != 3 || sessions[i].Scheduler != "scheduler-0" {
		t.Errorf("sessions %+v: want gap with 3 of 4", sessions)
	}
}

func keepsVictims(t *testing.T, s *store.Store) {
	attempt, victims := storetest.Bound("victims", 1), storetest.Bound("victims", 2)
	victims.Pod, victims.Kind, victims.Outcome, victims.Node = attempt.Pod, trace.KindVictims, "", ""
	attempt.Pod.Namespace, victims.Pod.Namespace = "victims", "victims"
	save(t, s, attempt, victims)
	if rows := mustList(t, s, store.Filter{Namespaces: []string{"victims"}, Limit: 5}); len(rows) != 1 {
		t.Errorf("a list has %v, want the attempt only", names(rows))
	}
	rows, err := s.History(t.Context(), "victims", attempt.Pod.Name, "", 10)
	if err != nil || len(rows) != 2 {
		t.Errorf("the pod's history has %v, %v; want both", names(rows), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for address, want := range map[string]string{
		"":                 "found nothing",
		"mysql://host/db":  "begins with mysql://",
		t.TempDir():        "schema",
		"/no/such/folder/": "schema",
	} {
		s, err := store.Open(t.Context(), address)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", address, err, want)
		}
	}
}

func TestErrorsDoNotShowPasswords(t *testing.T) {
	_, err := store.Open(t.Context(), "postgres://me:secret@127.0.0.1:1/none?connect_timeout=1")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v: want an error without the password", err)
	}
}

func TestPlansUseIndexesOnPostgreSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server: not with -short")
	}
	s := open(t, storetest.Postgres(t).Database(t))
	var records []*trace.Record
	for n := range 20000 {
		if n%10 == 0 {
			records = append(records, storetest.Unschedulable("plan", n+1, "DiskIO", "too slow"))
			continue
		}
		records = append(records, storetest.Bound("plan", n+1))
	}
	for part := range slices.Chunk(records, 1000) {
		save(t, s, part...)
	}
	store.PlansOnPostgres(t.Context(), t, s)
}
