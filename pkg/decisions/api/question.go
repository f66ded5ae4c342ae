package api

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
	// maxSpan bounds what charts and heat maps cover.
	maxSpan = 31 * 24 * time.Hour
	// defaultSpan is what they cover when nothing is said.
	defaultSpan = time.Hour
)

// question reads the parameters of a request and remembers the first that is wrong.
type question struct {
	request *http.Request
	err     error
}

// ask begins to read; parameters that are not among known are refused, because a misspelt filter would show everything.
func ask(r *http.Request, known ...string) *question {
	q := &question{request: r}
	for name := range r.URL.Query() {
		if !slices.Contains(known, name) {
			q.fail("%s: no such parameter; want one of %q", name, known)
		}
	}
	return q
}

func (q *question) fail(format string, args ...any) {
	if q.err == nil {
		q.err = badRequest(format, args...)
	}
}

func (q *question) text(name string) string { return q.request.URL.Query().Get(name) }

// namespaces may be named several times.
func (q *question) namespaces() []string { return q.request.URL.Query()["namespace"] }

func (q *question) number(name string, otherwise, lowest, highest int) int {
	value := q.text(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < lowest || n > highest {
		q.fail("%s: want a number from %d to %d, found %q", name, lowest, highest, value)
		return otherwise
	}
	return n
}

func (q *question) limit() int { return q.number("limit", defaultLimit, 1, maxLimit) }

func (q *question) time(name string) time.Time {
	value := q.text(name)
	if value == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		q.fail("%s: want a time such as 2030-01-02T15:04:05Z, found %q", name, value)
	}
	return at
}

// span reads since and until, by default the last hour.
func (q *question) span(now time.Time) (since, until time.Time) {
	since, until = q.time("since"), q.time("until")
	if until.IsZero() {
		until = now
	}
	if since.IsZero() {
		since = until.Add(-defaultSpan)
	}
	if !since.Before(until) || until.Sub(since) > maxSpan {
		q.fail("since and until: want at most %s from one to the other, found %s to %s",
			maxSpan, since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return since, until
}

// cursor is a place in a list, in a form that nobody takes for anything else.
func (q *question) cursor() *store.Cursor {
	value := q.text("after")
	if value == "" {
		return nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(value)
	var c store.Cursor
	if err == nil {
		_, err = fmt.Sscanf(string(decoded), "%d.%d", &c.At, &c.ID)
	}
	if err != nil {
		q.fail("after: want the next of an earlier answer, found %q", value)
	}
	return &c
}

func cursorOf(row *store.Row) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", row.At.UnixNano(), row.ID))
}
