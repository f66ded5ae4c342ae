package report

import (
	"errors"
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	ill := errors.New("the server is ill")
	s := Schedule{Heartbeat: time.Minute}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, step := range []struct {
		name    string
		at      time.Duration
		changed bool
		try     bool
		reason  string
		result  error
	}{
		{"the first report is due at once", 0, false, true, ReasonStart, nil},
		{"news have to wait for 15 s", 14 * time.Second, true, false, "", nil},
		{"then they are due", 15 * time.Second, true, true, ReasonChange, ill},
		{"a failure has to wait as well", 29 * time.Second, true, false, "", nil},
		{"and is tried again", 30 * time.Second, true, true, ReasonChange, nil},
		{"without news nothing is due", 89 * time.Second, false, true, "", nil},
		{"until the heartbeat", 90 * time.Second, false, true, ReasonHeartbeat, ill},
		{"which is tried again too", 105 * time.Second, false, true, ReasonHeartbeat, nil},
	} {
		now := begin.Add(step.at)
		if got := s.MayTry(now); got != step.try {
			t.Errorf("%s: MayTry() = %t, want %t", step.name, got, step.try)
		}
		if !step.try {
			continue
		}
		reason := s.Reason(now, step.changed)
		if reason != step.reason {
			t.Errorf("%s: Reason() = %q, want %q", step.name, reason, step.reason)
		}
		if reason == "" {
			continue
		}
		s.Attempt(now)
		if got := s.Done(now, step.result); !errors.Is(got, step.result) || !errors.Is(s.Failure(), step.result) {
			t.Errorf("%s: Done() = %v, Failure() = %v, want %v", step.name, got, s.Failure(), step.result)
		}
	}
}
