package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// legacyLayout is how the predecessor writes times, which is how Go prints them.
const legacyLayout = "2006-01-02 15:04:05.999999999 -0700 MST"

// LegacyTime prints a time as the predecessor does, without the reading of a monotonic clock. The zero time is "".
func LegacyTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(legacyLayout)
}

// ParseTime reads a time in any of the forms that the predecessor and its tools write: as Go prints it, with a reading of
// the monotonic clock (m=+9.5, or m=-0.1) or without, in any zone with or without a name; to the second or finer; RFC 3339;
// and without a zone, which its plots write and which means UTC. The result is in UTC; "" is the zero time.
func ParseTime(s string) (time.Time, error) {
	text := strings.TrimSpace(s)
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UTC(), nil
	}
	// The name of a zone says nothing that its offset does not, and Go prints one that it does not know as a number.
	fields := strings.Fields(text)
	if last := len(fields) - 1; strings.HasPrefix(fields[last], "m=") {
		fields = fields[:last]
	}
	switch len(fields) {
	case 2:
		fields = append(fields, "+0000")
	case 3, 4:
		fields = fields[:3]
	default:
		return time.Time{}, fmt.Errorf("time is %q, want the form of %q or of %q", shorten(s, maxName), legacyLayout, time.RFC3339Nano)
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", strings.Join(fields, " "))
	if err != nil {
		return time.Time{}, fmt.Errorf("time is %q, want the form of %q or of %q", shorten(s, maxName), legacyLayout, time.RFC3339Nano)
	}
	return at.UTC(), nil
}

// legacyEvent is a line of the predecessor's log, whose time is any text.
type legacyEvent struct {
	Event

	Time string `json:"timestamp"`
}

// LineError is a line that could not be read. The lines after it can.
type LineError struct {
	// Line counts from 1.
	Line int
	Err  error
}

// Error says where and what.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// errLongLine is a line beyond MaxMatrixRecordBytes.
var errLongLine = errors.New("longer than any record")

// Lines reads JSON lines one after the other. It keeps one line in memory, and passes over those that are too long.
type Lines struct {
	in   *bufio.Reader
	line int
}

// NewLines reads from in.
func NewLines(in io.Reader) *Lines { return &Lines{in: bufio.NewReaderSize(in, 64<<10)} }

// Next returns the next line that is not empty. At the end it returns io.EOF; a last line needs no newline. A *LineError
// leaves the reader at the line after it.
func (l *Lines) Next() ([]byte, error) {
	for {
		l.line++
		line, err := l.read()
		if errors.Is(err, errLongLine) {
			return nil, &LineError{Line: l.line, Err: err}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, io.EOF
		}
	}
}

func (l *Lines) read() (line []byte, err error) {
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxMatrixRecordBytes; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			return nil, errLongLine
		}
		return line, err
	}
}

// Line is the number of the line that Next returned last.
func (l *Lines) Line() int { return l.line }

// ReadRecord returns the next record of a file of JSON lines. At the end it returns io.EOF; a *LineError is about one line.
func ReadRecord(lines *Lines) (Record, error) {
	line, err := lines.Next()
	if err != nil {
		return Record{}, err
	}
	var record Record
	if err := json.Unmarshal(line, &record); err != nil {
		return Record{}, &LineError{Line: lines.Line(), Err: err}
	}
	if err := record.Validate(); err != nil {
		return Record{}, &LineError{Line: lines.Line(), Err: err}
	}
	return record, nil
}

// ReadEvents returns the events of the next line of a log of the predecessor: one, or several where a newline is missing,
// as in what it writes to its standard output. At the end it returns io.EOF; a *LineError is about one line, whose events
// before the fault are returned too.
func ReadEvents(lines *Lines) ([]Event, error) {
	line, err := lines.Next()
	if err != nil {
		return nil, err
	}
	var events []Event
	for decoder := json.NewDecoder(bytes.NewReader(line)); decoder.More(); {
		var read legacyEvent
		if err := decoder.Decode(&read); err != nil {
			return events, &LineError{Line: lines.Line(), Err: err}
		}
		if read.Object != "Pod" && read.Object != "Node" || read.Name == "" {
			return events, &LineError{Line: lines.Line(), Err: fmt.Errorf("object is %q and name is %q, want a Pod or a Node with a name",
				shorten(read.Object, maxName), shorten(read.Name, maxName))}
		}
		if read.Event.Time, err = ParseTime(read.Time); err != nil {
			return events, &LineError{Line: lines.Line(), Err: err}
		}
		events = append(events, read.Event)
	}
	return events, nil
}
