package staticfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// Files are a matrix and its metadata on disk, read again when they change. Not safe for concurrent use.
type Files struct {
	// Matrix and Metadata are their paths.
	Matrix, Metadata string

	matrix, metadata []byte
	read             bool
}

// Refresh reads the files. It returns changed false, and no rows, if their content is that of the latest successful
// Refresh. After an error the caller keeps what it has: files are often replaced one after the other, and do not fit each
// other in between.
func (f *Files) Refresh() (rows []delay.Row, changed bool, err error) {
	matrix, err := read(f.Matrix)
	if err != nil {
		return nil, false, err
	}
	metadata, err := read(f.Metadata)
	if err != nil {
		return nil, false, err
	}
	if f.read && bytes.Equal(matrix, f.matrix) && bytes.Equal(metadata, f.metadata) {
		return nil, false, nil
	}
	rows, err = Parse(matrix, metadata)
	if err != nil {
		return nil, false, f.named(err)
	}
	f.matrix, f.metadata, f.read = matrix, metadata, true
	return rows, true, nil
}

// Load reads two files once.
func Load(matrix, metadata string) ([]delay.Row, error) {
	rows, _, err := (&Files{Matrix: matrix, Metadata: metadata}).Refresh()
	return rows, err
}

// named puts the path of the file into an error.
func (f *Files) named(err error) error {
	if fault := (*Error)(nil); errors.As(err, &fault) {
		named := *fault
		named.File = map[string]string{matrixFile: f.Matrix, metadataFile: f.Metadata}[fault.File]
		return &named
	}
	return err
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("delay matrix: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("delay matrix: %w", err)
	}
	return data, nil
}
