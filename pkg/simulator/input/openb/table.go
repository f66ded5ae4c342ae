package openb

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/input/faults"
)

// Kind is what a file holds.
type Kind int

const (
	// Unknown is a header that is none of the trace's.
	Unknown Kind = iota
	// Nodes is sn,cpu_milli,memory_mib,gpu,model.
	Nodes
	// Pods is name,cpu_milli,memory_mib,num_gpu,gpu_milli and more.
	Pods
)

// KindOf looks at the header only.
func KindOf(data []byte) Kind {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	names := strings.Split(strings.TrimSpace(strings.TrimPrefix(string(line), "\ufeff")), ",")
	switch {
	case slices.Contains(names, "sn"):
		return Nodes
	case slices.Contains(names, "name") && slices.Contains(names, "num_gpu"):
		return Pods
	default:
		return Unknown
	}
}

// table goes through the rows of a file.
type table struct {
	file    string
	reader  *csv.Reader
	columns map[string]int
	row     []string
	line    int
	list    *faults.List
}

// open reads the header. It returns nil if that lacks a column.
func open(file string, data []byte, list *faults.List, columns ...string) *table {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		list.Warn(faults.Position{File: file}, "the last line has no end, the file may have been cut off")
	}
	t := &table{file: file, list: list, columns: map[string]int{}}
	t.reader = csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	t.reader.ReuseRecord = true
	header, err := t.reader.Read()
	if errors.Is(err, io.EOF) {
		list.Add(faults.Position{File: file}, "the file is empty: want a line with the columns' names, %s", strings.Join(columns, ","))
		return nil
	}
	if err != nil {
		list.Add(t.broken(err), "not CSV: %v", cause(err))
		return nil
	}
	for i, name := range header {
		t.columns[strings.TrimSpace(name)] = i
	}
	complete := true
	for _, name := range columns {
		if _, found := t.columns[name]; !found {
			list.Add(faults.Position{File: file, Line: 1, Field: name}, "want this column, found %s", strings.Join(header, ","))
			complete = false
		}
	}
	if !complete {
		return nil
	}
	return t
}

// next goes to the next row that has all of its columns.
func (t *table) next() bool {
	for {
		row, err := t.reader.Read()
		if errors.Is(err, io.EOF) {
			return false
		}
		if errors.Is(err, csv.ErrFieldCount) {
			t.list.Add(t.broken(err), "want %d columns, found %d; the file may have been cut off", t.reader.FieldsPerRecord, len(row))
			continue
		}
		if err != nil {
			t.list.Add(t.broken(err), "not CSV: %v", cause(err))
			return false
		}
		t.row = row
		t.line, _ = t.reader.FieldPos(0)
		return true
	}
}

func (t *table) broken(err error) faults.Position {
	at := faults.Position{File: t.file}
	if broken := (*csv.ParseError)(nil); errors.As(err, &broken) {
		at.Line = broken.Line
	}
	return at
}

// cause is the error without the line, which the position has.
func cause(err error) error {
	if broken := (*csv.ParseError)(nil); errors.As(err, &broken) {
		return broken.Err
	}
	return err
}

func (t *table) at(column string) faults.Position {
	return faults.Position{File: t.file, Line: t.line, Field: column}
}

// text is empty for a column that the file does not have.
func (t *table) text(column string) string {
	i, found := t.columns[column]
	if !found {
		return ""
	}
	// The reader uses the row's memory again.
	return strings.Clone(strings.TrimSpace(t.row[i]))
}

// number reads a whole number from 0 to most; absent is 0 unless it is required.
func (t *table) number(column string, most int64, required bool) int64 {
	text := t.text(column)
	if text == "" && !required {
		return 0
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < 0 || value > most {
		t.list.Add(t.at(column), "want a whole number from 0 to %d, found %q", most, text)
		return 0
	}
	return value
}
