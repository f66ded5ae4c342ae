package trace

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// MaxRecordBytes bounds the JSON form of a record without a full matrix.
	MaxRecordBytes = 8 << 10
	// MaxMatrixRecordBytes bounds what a reader must accept: a record with the full matrix of 5,000 nodes fits well.
	MaxMatrixRecordBytes = 4 << 20
	// maxName is the longest name and namespace of a Kubernetes object.
	maxName = 253
	// maxCount bounds numbers of nodes and attempts, such that sums of them are safe and each fits in 32 bits.
	maxCount = math.MaxInt32 >> 8
)

var (
	// ErrNewerVersion marks a record whose form is newer than this program: it is not faulty, but it cannot be read.
	ErrNewerVersion = errors.New("record of a newer version")
	// ErrInvalidRecord marks a record that breaks the rules of its form.
	ErrInvalidRecord = errors.New("invalid record")
)

// Validate reports the first fault that makes the record useless or harmful to a store: a newer version
// ([ErrNewerVersion]), a missing key, numbers and times out of range ([ErrInvalidRecord]). It says nothing about texts:
// pod names and messages are what their authors made of them, and whoever shows them must quote them.
func (r *Record) Validate() error {
	if r.Version > SchemaVersion {
		return fmt.Errorf("%w: version is %d, this program knows up to %d: update it", ErrNewerVersion, r.Version, SchemaVersion)
	}
	checks := []func(*Record) error{
		(*Record).validateKey, (*Record).validatePod, (*Record).validateTimes, (*Record).validateNodes, (*Record).validateTerms,
	}
	for _, check := range checks {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// validateKey looks at what a record is found by.
func (r *Record) validateKey() error {
	switch {
	case r.Version < 1:
		return fmt.Errorf("%w: version is %d, want 1 or more", ErrInvalidRecord, r.Version)
	case r.Kind != KindAttempt && r.Kind != KindVictims:
		return fmt.Errorf("%w: kind is %q, want %s or %s", ErrInvalidRecord, shorten(string(r.Kind), maxName), KindAttempt, KindVictims)
	case r.Session == "" || len(r.Session) > maxName:
		return fmt.Errorf("%w: session has %d bytes, want 1 to %d", ErrInvalidRecord, len(r.Session), maxName)
	case r.Sequence == 0 || r.Sequence > math.MaxInt64:
		return fmt.Errorf("%w: sequence is %d, want 1 to %d", ErrInvalidRecord, r.Sequence, int64(math.MaxInt64))
	case r.Attempt < 0 || r.Attempt > maxCount:
		return fmt.Errorf("%w: attempt is %d, want 0 to %d", ErrInvalidRecord, r.Attempt, maxCount)
	}
	return nil
}

func (r *Record) validatePod() error {
	if r.Pod.UID == "" || max(len(r.Pod.UID), len(r.Pod.Name), len(r.Pod.Namespace)) > maxName {
		return fmt.Errorf("%w: pod has a UID of %d, a name of %d and a namespace of %d bytes, want a UID and none longer than %d",
			ErrInvalidRecord, len(r.Pod.UID), len(r.Pod.Name), len(r.Pod.Namespace), maxName)
	}
	return nil
}

// validateNodes looks for numbers that nothing that was counted can have.
func (r *Record) validateNodes() error {
	n := r.Nodes
	for _, count := range []int{n.Total, n.Excluded, n.Rejected, n.Feasible, n.NotEvaluated} {
		if count < 0 || count > maxCount {
			return fmt.Errorf("%w: a number of nodes is %d, want 0 to %d", ErrInvalidRecord, count, maxCount)
		}
	}
	for i := range r.Rejections {
		if count := r.Rejections[i].Nodes; count < 0 || count > maxCount {
			return fmt.Errorf("%w: rejections[%d] counts %d nodes, want 0 to %d", ErrInvalidRecord, i, count, maxCount)
		}
	}
	return nil
}

// validateTerms looks for numbers that JSON cannot hold.
func (r *Record) validateTerms() error {
	if r.Scores == nil {
		return nil
	}
	for i := range r.Scores.Top {
		for _, plugin := range r.Scores.Top[i].Terms {
			for _, term := range plugin.Terms {
				if math.IsNaN(term.Value) || math.IsInf(term.Value, 0) {
					return fmt.Errorf("%w: a term of scores.top[%d] is %v, want a finite number", ErrInvalidRecord, i, term.Value)
				}
			}
		}
	}
	return nil
}

func (r *Record) validateTimes() error {
	for _, t := range []struct {
		field string
		time  time.Time
	}{{"start", r.Start}, {"end", r.End}, {"queued", r.Queued}, {"firstAttempt", r.FirstAttempt}} {
		if !t.time.IsZero() && (t.time.Year() < 1970 || t.time.Year() >= 2262) {
			return fmt.Errorf("%w: %s is %s, want a year from 1970 to 2261", ErrInvalidRecord, t.field, t.time.Format(time.RFC3339))
		}
	}
	return nil
}

// shorten cuts a string after at most limit bytes, between characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const ellipsis = "…"
	cut := max(limit-len(ellipsis), 0)
	for cut > 0 && s[cut]&0xC0 == 0x80 { // inside a character
		cut--
	}
	return s[:cut] + ellipsis
}
