package trace_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

func TestParseTime(t *testing.T) {
	at := time.Date(2024, 4, 22, 1, 8, 24, 123456789, time.UTC)
	for _, tc := range []struct {
		name, text string
		want       time.Time
	}{
		{"as the scheduler wrote it", "2024-04-22 01:08:24.123456789 +0000 UTC m=+9.500000001", at},
		{"trailing zeros of the fraction are cut", "2024-04-22 01:08:24.12 +0000 UTC m=+9.5", at.Truncate(10 * time.Millisecond)},
		{"no fraction, as of a pod's condition", "2024-04-22 01:08:24 +0000 UTC", at.Truncate(time.Second)},
		{"a clock that was set back", "2024-04-22 01:08:24.123456789 +0000 UTC m=-0.25", at},
		{"a zone with a name", "2024-04-21 18:08:24.123456789 -0700 PDT m=+1.5", at},
		{"a zone that Go has no name for", "2024-04-22 06:38:24.123456789 +0530 +0530", at},
		{"a zone of hours without a name", "2024-04-22 04:08:24.123456789 +0300 +03 m=+1.5", at},
		{"an offset only", "2024-04-22 01:08:24.123456789 +0000", at},
		{"as its plots write it", "2024-04-22 01:08:24.123456", at.Truncate(time.Microsecond)},
		{"RFC 3339", "2024-04-22T01:08:24.123456789Z", at},
		{"RFC 3339 in another zone", "2024-04-22T03:08:24.123456789+02:00", at},
		{"none", "", time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := trace.ParseTime(tc.text)
			if err != nil || !got.Equal(tc.want) || (!got.IsZero() && got.Location() != time.UTC) {
				t.Errorf("found %s, %v; want %s", got, err, tc.want)
			}
			if again, err := trace.ParseTime(trace.LegacyTime(got)); err != nil || !again.Equal(got) {
				t.Errorf("written and read again: %s, %v", again, err)
			}
		})
	}
	for _, text := range []string{"yesterday", "2024-04-22", "2024-13-22 01:08:24 +0000 UTC", "m=+1", strings.Repeat("9", 10000)} {
		if at, err := trace.ParseTime(text); err == nil || len(err.Error()) > 500 {
			t.Errorf("ParseTime(%.20q) = %s, %.200v; want a short error", text, at, err)
		}
	}
}

// predecessorLog has lines of both sidecars and of the notifier, in the forms that they write.
const predecessorLog = `{"object":"Pod","name":"job-1-x","endpoint":"schedulePod","node":"n3","event":"ScheduleSuccess","timestamp":"2030-01-01 10:00:00.123456789 +0000 UTC m=+9.5"}

{"object":"Pod","name":"job-1-x","endpoint":"podUpdate","reason":"Ready","message":"<b>","event":"Ready","timestamp":"2030-01-01 10:00:01 +0000 UTC"}
{"object":"Pod","name":"a","event":"Running"}{"object":"Pod","name":"b","event":"Running"}
{"object":"Node","name":"n3","endpoint":"nodeUpdate","extra":{"capacity-cpu":"4","allocatable-cpu":"3920m"}}
{"object":"Pod","name":"cut off
{"object":"Secret","name":"s"}
{"object":"Pod","name":"c","timestamp":"noon"}
{"object":"Pod","name":"last","endpoint":"preStop"}`

func TestReadEvents(t *testing.T) {
	lines := trace.NewLines(strings.NewReader(predecessorLog))
	var got []trace.Event
	var faults []int
	for {
		events, err := trace.ReadEvents(lines)
		got = append(got, events...)
		var fault *trace.LineError
		if errors.As(err, &fault) {
			faults = append(faults, fault.Line)
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []trace.Event{
		{
			Object: "Pod", Name: "job-1-x", Endpoint: "schedulePod", Node: "n3", Event: "ScheduleSuccess",
			Time: time.Date(2030, 1, 1, 10, 0, 0, 123456789, time.UTC),
		},
		{
			Object: "Pod", Name: "job-1-x", Endpoint: "podUpdate", Reason: "Ready", Message: "<b>", Event: "Ready",
			Time: time.Date(2030, 1, 1, 10, 0, 1, 0, time.UTC),
		},
		{Object: "Pod", Name: "a", Event: "Running"},
		{Object: "Pod", Name: "b", Event: "Running"},
		{Object: "Node", Name: "n3", Endpoint: "nodeUpdate", Extra: map[string]string{"capacity-cpu": "4", "allocatable-cpu": "3920m"}},
		{Object: "Pod", Name: "last", Endpoint: "preStop"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{6, 7, 8}, faults); diff != "" {
		t.Errorf("faulty lines (-want +got):\n%s", diff)
	}
}

func TestARecordOfTenMegabytesIsPassedOver(t *testing.T) {
	long := `{"version":1,"message":"` + strings.Repeat("x", 10<<20) + `"}`
	short := `{"version":1,"session":"s","seq":1,"kind":"Attempt","pod":{"uid":"u","name":"p"}}`
	newer := `{"version":2,"session":"s","seq":2,"kind":"Attempt","pod":{"uid":"u"}}`
	lines := trace.NewLines(strings.NewReader(long + "\n" + newer + "\n" + short))
	var fault *trace.LineError
	if _, err := trace.ReadRecord(lines); !errors.As(err, &fault) || fault.Line != 1 {
		t.Errorf("first line: %v", err)
	}
	if _, err := trace.ReadRecord(lines); !errors.Is(err, trace.ErrNewerVersion) || !errors.As(err, &fault) || fault.Line != 2 {
		t.Errorf("second line: %v", err)
	}
	if record, err := trace.ReadRecord(lines); err != nil || record.Pod.Name != "p" {
		t.Errorf("third line: %+v, %v", record, err)
	}
	if _, err := trace.ReadRecord(lines); !errors.Is(err, io.EOF) {
		t.Errorf("end: %v", err)
	}
}

// FuzzReadEvents: whatever a log holds, reading ends, and what was read can be written.
func FuzzReadEvents(f *testing.F) {
	f.Add(predecessorLog)
	f.Add("{}{}\n[]\nnull")
	f.Add(`{"object":"Pod","name":"p","extra":{"a":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		lines := trace.NewLines(strings.NewReader(text))
		for range len(text) + 2 {
			events, err := trace.ReadEvents(lines)
			for _, e := range events {
				if at, err := trace.ParseTime(trace.LegacyTime(e.Time)); err != nil || !at.Equal(e.Time) {
					t.Errorf("time %s is read again as %s, %v", e.Time, at, err)
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
		}
		t.Error("reading did not end")
	})
}

// FuzzReadRecord: a record that is read is valid, small and can be written.
func FuzzReadRecord(f *testing.F) {
	f.Add(`{"version":1,"session":"s","seq":1,"kind":"Attempt","pod":{"uid":"u","name":"p"},"scores":{"top":[{"node":"n","raw":[1]}]}}`)
	f.Add(`{"version":1,"session":"s","seq":1,"kind":"Victims","pod":{"uid":"u"},"preemption":{"victims":[{"name":"v"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		record, err := trace.ReadRecord(trace.NewLines(strings.NewReader(text)))
		if err != nil {
			return
		}
		if err := record.Validate(); err != nil {
			t.Errorf("read an invalid record: %v", err)
		}
		record.Shrink(trace.MaxRecordBytes)
		run := trace.NewRun()
		run.Add(&record)
		trace.Compare(run, run)
	})
}
