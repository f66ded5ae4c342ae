package trace_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func validRecord() trace.Record {
	return trace.Record{
		Version: trace.SchemaVersion, Session: "s1", Sequence: 1, Kind: trace.KindAttempt, Attempt: 1,
		Pod:   trace.Pod{Namespace: "team", Name: "web", UID: "5d0e"},
		Start: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2030, 1, 1, 0, 0, 1, 0, time.UTC),
	}
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(*trace.Record)
		want  error
		text  string
	}{
		{"what the recorder writes", func(*trace.Record) {}, nil, ""},
		{"text of a hostile author is only text", func(r *trace.Record) {
			r.Pod.Name, r.Message = "'; DROP TABLE records;--", "<script>"
		}, nil, ""},
		{"an older writer", func(r *trace.Record) { r.Version = 0 }, trace.ErrInvalidRecord, "version is 0"},
		{"a newer writer", func(r *trace.Record) { r.Version = 2 }, trace.ErrNewerVersion, "knows up to 1"},
		{"no kind", func(r *trace.Record) { r.Kind = "" }, trace.ErrInvalidRecord, "kind"},
		{"no session", func(r *trace.Record) { r.Session = "" }, trace.ErrInvalidRecord, "session"},
		{"no sequence", func(r *trace.Record) { r.Sequence = 0 }, trace.ErrInvalidRecord, "sequence"},
		{"a sequence that SQL cannot hold", func(r *trace.Record) { r.Sequence = math.MaxUint64 }, trace.ErrInvalidRecord, "sequence"},
		{"no UID", func(r *trace.Record) { r.Pod.UID = "" }, trace.ErrInvalidRecord, "UID of 0"},
		{"a name no pod can have", func(r *trace.Record) { r.Pod.Name = strings.Repeat("x", 254) }, trace.ErrInvalidRecord, "name of 254"},
		{"a negative attempt", func(r *trace.Record) { r.Attempt = -1 }, trace.ErrInvalidRecord, "attempt is -1"},
		{"a year that nanoseconds cannot hold", func(r *trace.Record) { r.End = r.End.AddDate(400, 0, 0) }, trace.ErrInvalidRecord, "end is 2430"},
		{"a negative number of nodes", func(r *trace.Record) { r.Nodes.Feasible = -1 }, trace.ErrInvalidRecord, "number of nodes is -1"},
		{"a rejection of too many nodes", func(r *trace.Record) {
			r.Rejections = []trace.Rejection{{Nodes: math.MaxInt32}}
		}, trace.ErrInvalidRecord, "rejections[0]"},
		{"a term that is not a number", func(r *trace.Record) {
			r.Scores = &trace.Scores{Top: []trace.NodeScore{{Terms: []trace.PluginTerms{{Terms: []trace.Term{{Value: math.NaN()}}}}}}}
		}, trace.ErrInvalidRecord, "NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			record := validRecord()
			tc.spoil(&record)
			err := record.Validate()
			if !errors.Is(err, tc.want) || (tc.want != nil && !strings.Contains(err.Error(), tc.text)) {
				t.Errorf("found error %v, want %v with %q", err, tc.want, tc.text)
			}
		})
	}
}
