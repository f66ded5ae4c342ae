package rtt

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
)

// listFile is the file with the list of targets. What was read last goes on to hold when the file is gone or wrong.
type listFile struct {
	path string
	raw  []byte
	list *targets.List // nil before the first
}

// refresh reads the file. It reports whether there is another list than before.
func (f *listFile) refresh() (changed bool, err error) {
	raw, err := readAtMost(f.path, targets.MaxBytes+1)
	if err != nil {
		return false, fmt.Errorf("rtt.targetsFile: no list of targets, which vicinity-controller keeps in the ConfigMap "+
			"vicinity-rtt-targets: %w", err)
	}
	if f.list != nil && bytes.Equal(raw, f.raw) {
		return false, nil
	}
	list, err := targets.Decode(bytes.NewReader(raw))
	if err != nil {
		return false, fmt.Errorf("rtt.targetsFile %s: %w", f.path, err)
	}
	f.raw, f.list = raw, list
	return true, nil
}

func readAtMost(path string, n int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, n))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return data, err
}
