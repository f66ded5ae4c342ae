package report

import "time"

// MinInterval is the shortest time between two attempts to write one object, failed ones included.
const MinInterval = 15 * time.Second

// Why a report is written, as metrics call it.
const (
	ReasonStart     = "start"
	ReasonChange    = "change"
	ReasonHeartbeat = "heartbeat"
)

// Schedule decides when a report is due. The zero value with a Heartbeat is ready for use.
type Schedule struct {
	// Heartbeat is the time after which a report is due whether or not there is news.
	Heartbeat time.Duration

	reportedAt, attemptedAt time.Time
	failure                 error
}

// MayTry tells whether the API server may be spoken to again.
func (s *Schedule) MayTry(now time.Time) bool {
	return s.attemptedAt.IsZero() || now.Sub(s.attemptedAt) >= MinInterval
}

// Attempt notes that the API server is spoken to at now, so that MayTry is false for a while.
func (s *Schedule) Attempt(now time.Time) { s.attemptedAt = now }

// Reason returns why a report is due, "" if it is not. Changed tells whether there is news since the latest report.
func (s *Schedule) Reason(now time.Time, changed bool) string {
	switch {
	case s.reportedAt.IsZero():
		return ReasonStart
	case changed:
		return ReasonChange
	case now.Sub(s.reportedAt) >= s.Heartbeat:
		return ReasonHeartbeat
	}
	return ""
}

// Done notes how the attempt of now ended, and returns err.
func (s *Schedule) Done(now time.Time, err error) error {
	s.failure = err
	if err == nil {
		s.reportedAt = now
	}
	return err
}

// Failure is why the latest attempt failed, nil if it did not.
func (s *Schedule) Failure() error { return s.failure }
