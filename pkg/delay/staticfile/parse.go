package staticfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

const (
	// MaxNodes is how many rows a matrix may have.
	MaxNodes = 5000
	// MaxBytes is how large each of the files may be, in bytes.
	MaxBytes = 256 << 20

	maxName = 253
	// shown is how many bytes of a wrong value an error shows.
	shown = 40
)

// Names of the files in errors as long as nobody says better.
const (
	matrixFile   = "matrix"
	metadataFile = "metadata"
)

// Error is a fault in one of the files.
type Error struct {
	// File is the file's path, or "matrix" or "metadata".
	File string
	// Line is the number of the line, from 1; 0 for a fault of the whole file.
	Line int
	// Fault says what was expected and what was found.
	Fault string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Fault
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Fault)
}

// Parse reads a matrix and its metadata. The rows are ordered by the nodes' names, and so are their peers. Samples have no
// time of observation: whoever knows when the files were written may add it. The error is an [Error].
func Parse(matrix, metadata []byte) ([]delay.Row, error) {
	table, err := parseMatrix(matrix)
	if err != nil {
		return nil, err
	}
	numbers, err := parseMetadata(metadata, len(table))
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(numbers))
	rows := make([]delay.Row, 0, len(names))
	for _, from := range names {
		row := delay.Row{From: from, Peers: make([]delay.PeerSample, 0, len(names)-1)}
		for _, to := range names {
			if to != from {
				row.Peers = append(row.Peers, delay.PeerSample{Peer: to, Sample: delay.Sample{
					P50: table[numbers[from]][numbers[to]], Known: true, Source: delay.SourceStatic,
				}})
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func parseMatrix(text []byte) ([][]time.Duration, error) {
	if len(text) > MaxBytes {
		return nil, &Error{File: matrixFile, Fault: fmt.Sprintf("expected at most %d bytes, found %d", MaxBytes, len(text))}
	}
	var table [][]time.Duration
	line, columns, first := 0, 0, 0
	for content := range bytes.Lines(text) {
		line++
		content, _, _ = bytes.Cut(content, []byte{'#'})
		row, err := parseRow(content, line, columns)
		if err != nil {
			return nil, err
		}
		switch {
		case len(row) == 0:
			continue
		case len(table) == 0:
			columns, first = len(row), line
		case len(row) != columns:
			return nil, &Error{matrixFile, line, fmt.Sprintf("expected %d numbers as in line %d, found %d", columns, first, len(row))}
		}
		if table = append(table, row); len(table) > columns {
			return nil, &Error{matrixFile, line, fmt.Sprintf("expected %d rows, as many as columns, found more", columns)}
		}
	}
	if len(table) < columns || columns == 0 {
		return nil, &Error{File: matrixFile, Line: line, Fault: fmt.Sprintf(
			"expected as many rows as columns, found %d rows of %d columns", len(table), columns)}
	}
	return table, nil
}

// parseRow reads a line without its comment. Columns is how many numbers are expected, 0 if that is not known yet.
func parseRow(content []byte, line, columns int) ([]time.Duration, error) {
	var row []time.Duration
	for field := range bytes.FieldsFuncSeq(content, unicode.IsSpace) {
		if len(row) == MaxNodes {
			return nil, &Error{matrixFile, line, fmt.Sprintf("expected at most %d numbers", MaxNodes)}
		}
		if row == nil && columns > 0 {
			row = make([]time.Duration, 0, columns)
		}
		milliseconds, err := strconv.ParseFloat(string(field), 64)
		// Written so that NaN is refused too.
		if err != nil || !(milliseconds >= 0 && milliseconds <= float64(delay.MaxDelay.Milliseconds())) {
			return nil, &Error{matrixFile, line, fmt.Sprintf("column %d: expected milliseconds from 0 to %d, found %q",
				len(row), delay.MaxDelay.Milliseconds(), short(field))}
		}
		row = append(row, time.Duration(math.Round(milliseconds*1000))*time.Microsecond)
	}
	return row, nil
}

func short(value []byte) string {
	if len(value) > shown {
		return string(value[:shown]) + "..."
	}
	return string(value)
}

// metadataReader goes through the metadata token by token: a map would hide names that occur twice, and the line of a
// fault.
type metadataReader struct {
	text    []byte
	decoder *json.Decoder
	rows    int
	numbers map[string]int
	owners  map[int]string
}

// fault is one at the place that was read last.
func (m *metadataReader) fault(format string, args ...any) error {
	at := min(m.decoder.InputOffset(), int64(len(m.text)))
	return &Error{File: metadataFile, Line: 1 + bytes.Count(m.text[:at], []byte{'\n'}), Fault: fmt.Sprintf(format, args...)}
}

// parseMetadata reads names and the numbers of their rows.
func parseMetadata(text []byte, rows int) (map[string]int, error) {
	if len(text) > MaxBytes {
		return nil, &Error{File: metadataFile, Fault: fmt.Sprintf("expected at most %d bytes, found %d", MaxBytes, len(text))}
	}
	m := &metadataReader{
		text: text, decoder: json.NewDecoder(bytes.NewReader(text)), rows: rows, numbers: map[string]int{}, owners: map[int]string{},
	}
	if token, err := m.decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, m.fault(`expected a JSON object such as {"edge-1": 0, "cloud": 1}`)
	}
	for m.decoder.More() {
		if err := m.member(); err != nil {
			return nil, err
		}
	}
	if _, err := m.decoder.Token(); err != nil {
		return nil, m.fault("expected the end of the object: %v", err)
	}
	if _, err := m.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, m.fault("expected nothing after the object")
	}
	return m.numbers, nil
}

// member reads a name and its number.
func (m *metadataReader) member() error {
	token, err := m.decoder.Token()
	if err != nil {
		return m.fault("expected the name of a node: %v", err)
	}
	name, _ := token.(string)
	if name == "" || len(name) > maxName {
		return m.fault("expected the name of a node, of 1 to %d bytes, found %q", maxName, short([]byte(name)))
	}
	var number int
	if err := m.decoder.Decode(&number); err != nil {
		return m.fault("%q: expected the number of a row: %v", name, err)
	}
	if number < 0 || number >= m.rows {
		return m.fault("%q: expected a row of the matrix, 0 to %d, found %d", name, m.rows-1, number)
	}
	if _, ok := m.numbers[name]; ok {
		return m.fault("%q occurs twice", name)
	}
	if other, ok := m.owners[number]; ok {
		return m.fault("%q: row %d is that of %q already", name, number, other)
	}
	m.numbers[name], m.owners[number] = number, name
	return nil
}
