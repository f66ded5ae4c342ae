package records

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

const recorded = `{"version":1,"session":"s1","seq":3,"kind":"Attempt","pod":{"namespace":"a","name":"late","uid":"1"},"start":"2026-01-01T00:00:20Z","queued":"2026-01-01T00:00:15Z","outcome":"Bound","node":"n1","nodes":{"total":2}}
{"version":1,"session":"s1","seq":1,"kind":"Attempt","pod":{"namespace":"a","name":"early","uid":"2"},"start":"2026-01-01T00:00:10Z","outcome":"Unschedulable","nodes":{"total":2}}

{"version":1,"session":"s1","seq":6,"kind":"Attempt","pod":{"namespace":"a","name":"early","uid":"2"},"start":"2026-01-01T00:00:40Z","firstAttempt":"2026-01-01T00:00:10Z","outcome":"Bound","node":"n2","nodes":{"total":2}}
{"version":1,"session":"s1","seq":7,"kind":"Victims","pod":{"namespace":"a","name":"early","uid":"2"},"start":"2026-01-01T00:00:40Z"}
{"version":1,"session":"s2","seq":9,"kind":"Attempt","tentative":true,"pod":{"namespace":"a","name":"trial","uid":"3"},"start":"2026-01-01T00:00:50Z","outcome":"Fits"}
{"version":1,"sess`

func TestParse(t *testing.T) {
	list := &faults.List{}
	got := Parse("r.jsonl", []byte(recorded), list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	// early is the first to come; late was queued five seconds later. Numbers 2, 4 and 5 are not there.
	want := &Trace{
		Decisions: []Decision{{Pod: "a/early", Node: "n2", Attempts: 2}, {Pod: "a/late", Arrival: 5 * time.Second, Node: "n1", Attempts: 1}},
		Gaps:      []Gap{{Session: "s1", After: 1, Missing: 1}, {Session: "s1", After: 3, Missing: 2}},
		Records:   3,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Decision{})); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if text := got.String(); text != "3 attempts of 2 pods, 3 missing in 2 gaps" {
		t.Errorf("found %q", text)
	}
	if all := strings.Join(list.Warnings(), "\n"); !strings.Contains(all, "r.jsonl:7: the last line was cut off") {
		t.Errorf("want a warning of the last line, found %q", all)
	}
}

func TestFaultsNameFileLineAndField(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n":  "r.jsonl:1: version: want version 1, found 0",
		"\n{\n": "r.jsonl:2: want a decision record as JSON",
		`{"version":1,"kind":"Attempt","pod":{"name":"p"},"start":"2026-01-01T00:00:20Z"}`:     `r.jsonl:1: pod: want namespace and name, found "" and "p"`,
		`{"version":1,"kind":"Attempt","pod":{"namespace":"a","name":"p"}}`:                    "r.jsonl:1: start: want a time",
		`{"version":2,"kind":"Attempt","pod":{"namespace":"a","name":"p"},"start":"x"}` + "\n": "r.jsonl:1: want a decision record as JSON",
	} {
		list := &faults.List{}
		Parse("r.jsonl", []byte(text), list)
		if err := list.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, found %v", text, want, err)
		}
	}
}

// FuzzParse: no file panics, and decisions are in the order of arrival.
func FuzzParse(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var last time.Duration
		for _, d := range Parse("r", data, &faults.List{}).Decisions {
			if d.Arrival < last {
				t.Errorf("%s came at %v, after one that came at %v", d.Pod, d.Arrival, last)
			}
			last = d.Arrival
		}
	})
}
