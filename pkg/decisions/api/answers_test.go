package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func TestIntegrationAPI(t *testing.T) {
	s := start(t)
	for name, test := range map[string]func(*testing.T, *service){
		"everybody sees what they may":            testAccess,
		"a tenant's lists hold the tenant's pods": testTenantLists,
		"a list in pages":                         testPages,
		"a pod explained":                         testExplained,
		"victims of others have no names":         testVictims,
		"pending pods":                            testPending,
		"occupancy, stays and rates":              testCharts,
		"wrong questions":                         testWrongQuestions,
		"answers are as the document says":        testDocument,
	} {
		t.Run(name, func(t *testing.T) {
			one := *s
			one.t = t
			test(t, &one)
		})
	}
}

func testAccess(t *testing.T, s *service) {
	all := []string{
		"decisions", "decisions?namespace=team-3", "decisions/1", "pods/team-3/pod-3", "pending", "occupancy?since=2030-01-01T10:00:00Z", "stays", "rates",
		"events", "namespaces", "nodes", "sessions", "delays", "disks",
	}
	for _, path := range all {
		for user, want := range map[string]int{"everything": 200, "nothing": 403, "stranger": 401, "": 401} {
			if path == "decisions/1" && want == 403 {
				want = 404 // numbers do not tell what there is
			}
			if got, body := s.get(user, path); got != want {
				t.Errorf("%s as %q: %d, want %d: %s", path, user, got, want, body)
			}
		}
	}
	for path, want := range map[string]int{
		"decisions": 200, "decisions?namespace=team-1": 200, "decisions?namespace=team-1&namespace=team-2": 200, "decisions?namespace=team-3": 403,
		"decisions?namespace=team-1&namespace=team-3": 403, "pods/team-1/pod-1": 200, "pods/team-3/pod-3": 403, "pods/team-1/pod-3": 404,
		"pending": 200, "occupancy": 200, "stays": 200, "rates": 200, "events": 200, "namespaces": 200, "nodes": 403, "sessions": 403, "delays": 403, "disks": 403,
	} {
		if got, body := s.get("tenant", path); got != want {
			t.Errorf("%s as tenant: %d, want %d: %s", path, got, want, body)
		}
	}
}

func testTenantLists(t *testing.T, s *service) {
	for path, namespaces := range map[string]func() []string{
		"decisions": func() (out []string) {
			for _, d := range read[api.DecisionList](s, "tenant", "decisions?limit=1000").Items {
				out = append(out, d.Namespace)
			}
			return out
		},
		"stays": func() (out []string) {
			for _, p := range read[api.PodList](s, "tenant", "stays?since=2030-01-01T10:00:00Z&limit=1000").Items {
				out = append(out, p.Namespace)
			}
			return out
		},
		"events": func() (out []string) {
			for _, e := range read[api.EventList](s, "tenant", "events").Items {
				out = append(out, e.Namespace)
			}
			return out
		},
		"namespaces": func() []string { return read[api.NameList](s, "tenant", "namespaces").Items },
	} {
		found := namespaces()
		if len(found) == 0 || slices.ContainsFunc(found, func(n string) bool { return n != "team-1" && n != "team-2" }) {
			t.Errorf("%s: found pods of %v, want some of team-1 and team-2 only", path, found)
		}
	}
	if got := read[api.DecisionList](s, "tenant", "decisions?limit=1000"); len(got.Items) != 61 { // 2 * 30 and the preempting one
		t.Errorf("%d decisions, want 61", len(got.Items))
	}
}

func testPages(t *testing.T, s *service) {
	var sequences []uint64
	after := ""
	for range 10 {
		page := read[api.DecisionList](s, "everything", "decisions?limit=50&after="+after)
		for _, d := range page.Items {
			sequences = append(sequences, d.Sequence)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	var want []uint64
	for n := uint64(301); n > 0; n-- {
		want = append(want, n)
	}
	if diff := cmp.Diff(want, sequences); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func testExplained(t *testing.T, s *service) {
	got := read[api.PodHistory](s, "tenant", "pods/team-1/pod-1?node=node-41")
	if len(got.Attempts) != 1 || len(got.Events) != 1 || got.Pod.Node != "node-1" {
		t.Fatalf("%+v: want one attempt, one event and node-1", got)
	}
	attempt := got.Attempts[0]
	if !strings.HasPrefix(attempt.Explanation.Headline, "The pod is on node-1") || !strings.HasPrefix(attempt.WhyNot, "node-41 was rejected") {
		t.Errorf("found %+v and %q", attempt.Explanation, attempt.WhyNot)
	}
	if attempt.Record == nil || attempt.Record.Scores == nil || len(attempt.Record.Scores.Top) != 5 {
		t.Errorf("record %+v: want the scores of five nodes", attempt.Record)
	}
	one := read[api.Explained](s, "tenant", "decisions/"+fmt.Sprint(attempt.ID)+"?node=runner-up-1")
	if !strings.HasPrefix(one.WhyNot, "runner-up-1 passed every filter") {
		t.Errorf("found %q", one.WhyNot)
	}
}

func testVictims(t *testing.T, s *service) {
	names := func(user string) (out []string) {
		history := read[api.PodHistory](s, user, "pods/team-1/pod-301")
		for _, v := range history.Attempts[0].Record.Preemption.Victims {
			out = append(out, v.Namespace+"/"+v.Name)
		}
		return append(out, history.Attempts[0].Explanation.Details...)
	}
	all, some := strings.Join(names("everything"), "\n"), strings.Join(names("tenant"), "\n")
	if !strings.Contains(all, "team-9/secret") || !strings.Contains(all, "team-2/mine") {
		t.Errorf("who may see everything sees %s", all)
	}
	if strings.Contains(some, "secret") || strings.Contains(some, "team-9") || !strings.Contains(some, "team-2/mine") {
		t.Errorf("the tenant sees %s", some)
	}
}

func testPending(t *testing.T, s *service) {
	got := read[api.PendingList](s, "everything", "pending?sample=3")
	if len(got.Items) != 2 || got.Items[0].Pods != 30 || got.Items[0].Plugin != "DiskIO" || len(got.Items[0].Sample) != 3 || len(got.Items[0].Advice) == 0 {
		t.Errorf("%+v: want 30 pods that wait for DiskIO, three of them named, with advice", got.Items)
	}
}

// testCharts: pod n is bound at n*10 ms + 4 ms and stays; 270 of the 300 have a node.
func testCharts(t *testing.T, s *service) {
	o := read[api.Occupancy](s, "everything", "occupancy?since=2030-01-01T10:00:00Z&until=2030-01-01T10:00:04Z&intervals=4")
	perInterval := make([]int, 4)
	for _, cell := range o.Cells {
		perInterval[cell[1]] += cell[2]
	}
	// Bound before second 1: numbers 1 to 99, of which 9 had no node.
	if diff := cmp.Diff([]int{90, 180, 270, 270}, perInterval); diff != "" {
		t.Errorf("pods on nodes in each second (-want +got)\n%s", diff)
	}
	if len(o.Nodes) != 90 {
		t.Errorf("%d nodes, want 90", len(o.Nodes))
	}
	rates := read[api.RateList](s, "everything", "rates?since=2030-01-01T10:00:00Z&until=2030-01-01T10:01:00Z")
	if len(rates.Items) != 1 || rates.Items[0].Count[trace.OutcomeBound] != 270 || rates.Items[0].Count[trace.OutcomeUnschedulable] != 31 {
		t.Errorf("rates %+v", rates)
	}
	stays := read[api.PodList](s, "everything", "stays?since=2030-01-01T10:00:00Z&until=2030-01-01T10:00:04Z&node=node-3&limit=2")
	if len(stays.Items) != 2 || !stays.Truncated {
		t.Errorf("stays %+v: want two of three", stays)
	}
}

func testWrongQuestions(t *testing.T, s *service) {
	many := strings.Repeat("namespace=a&", 65)
	for path, want := range map[string]string{
		"decisions?limit=0": "from 1 to 1000", "decisions?limit=x": "from 1 to 1000", "decisions?since=yesterday": "want a time such as",
		"decisions?after=zzz": "want the next of an earlier answer", "decisions?outcome=Lost": "want one of", "decisions?nmespace=a": "no such parameter",
		"decisions?" + many: "at most 64", "decisions/abc": "want the number", "rates?since=2000-01-01T00:00:00Z": "want at most", "occupancy?intervals=9999": "from 1 to 500",
		"decisions?since=9999-01-01T00:00:00Z": "want a time such as",
	} {
		status, body := s.get("everything", path)
		if status != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%.60s: %d %s, want 400 and %q", path, status, body, want)
		}
	}
	for _, path := range []string{"nothing", "decisions/99999", "pods/team-1/nobody"} {
		if status, body := s.get("everything", path); status != http.StatusNotFound {
			t.Errorf("%s: %d %s, want 404", path, status, body)
		}
	}
	hostile := read[api.DecisionList](s, "everything", "decisions?pod="+"%27%3B%20DROP%20TABLE%20decisions%3B--")
	if len(hostile.Items) != 0 {
		t.Errorf("found %v", hostile)
	}
}
