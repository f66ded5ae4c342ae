package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

// Schema names the form of a file of results.
const Schema = "vicinity.sweep/v1"

// Settings are what all runs of a file have in common.
type Settings struct {
	Schema      string  `json:"schema"`
	Tune        float64 `json:"tune"`
	Shuffle     bool    `json:"shuffle"`
	TieBreak    string  `json:"tieBreak"`
	Nodes       int     `json:"nodes"`
	GPUs        int     `json:"gpus"`
	TypicalPods string  `json:"typicalPods"`
	// Model is the digest of the model that policy MLP decides by; empty without that policy.
	Model string `json:"model,omitempty"`
}

// Store is an open file of results. Its methods may be called from several goroutines.
type Store struct {
	mu   sync.Mutex
	file *os.File
	done map[Cell]*report.Document
}

// Open makes the file, or reads what an earlier run has left in it.
func Open(folder string, shard Shard, settings *Settings) (*Store, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of results: %w", err)
	}
	path := filepath.Join(folder, shard.FileName())
	s := &Store{done: map[Cell]*report.Document{}}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("reading earlier results: %w", err)
	default:
		if data, err = s.resume(path, data, settings); err != nil {
			return nil, err
		}
	}
	// Lines that were cut off are not kept; the file is written anew so that no line is glued to such a one.
	if s.file, err = os.Create(path); err != nil {
		return nil, fmt.Errorf("opening the file of results: %w", err)
	}
	if len(data) == 0 {
		if data, err = json.Marshal(settings); err != nil {
			return nil, errors.Join(fmt.Errorf("writing settings: %w", err), s.file.Close())
		}
		data = append(data, '\n')
	}
	if _, err := s.file.Write(data); err != nil {
		return nil, errors.Join(fmt.Errorf("writing %s: %w", path, err), s.file.Close())
	}
	return s, nil
}

// resume takes over what is whole and returns it.
func (s *Store) resume(path string, data []byte, settings *Settings) ([]byte, error) {
	found, results, whole, err := parse(path, data)
	if err != nil || found == nil {
		return nil, err
	}
	if *found != *settings {
		return nil, fmt.Errorf("%s holds results under other settings (%+v, now %+v): choose another folder with --out", path, *found, *settings)
	}
	for _, d := range results {
		s.done[cellOf(d)] = d
	}
	return whole, nil
}

func cellOf(d *report.Document) Cell { return Cell{Policy: d.Policy, Trace: d.Trace, Seed: d.Seed} }

// parse reads the lines of a file up to the first one that was cut off. Settings are nil for an empty file.
func parse(path string, data []byte) (settings *Settings, results []*report.Document, whole []byte, err error) {
	lines := bufio.NewReader(bytes.NewReader(data))
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return settings, results, whole, nil //nolint:nilerr // the end, or a line without one, which is run again
		}
		if settings == nil {
			settings = &Settings{}
			if err := json.Unmarshal(line, settings); err != nil || settings.Schema != Schema {
				return nil, nil, nil, fmt.Errorf("%s:%d: want settings with schema %s, found %.60q", path, number, Schema, line)
			}
		} else {
			d := &report.Document{}
			if err := json.Unmarshal(line, d); err != nil || d.Schema != report.Schema {
				return nil, nil, nil, fmt.Errorf("%s:%d: want a result with schema %s, found %.60q", path, number, report.Schema, line)
			}
			results = append(results, d)
		}
		whole = append(whole, line...)
	}
}

// Done says whether the cell has a result.
func (s *Store) Done(c Cell) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[c] != nil
}

// Add keeps a result.
func (s *Store) Add(d *report.Document) error {
	line, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	s.done[cellOf(d)] = d
	return nil
}

// Results are all that there are, in the order of the cells.
func (s *Store) Results(cells []Cell) []*report.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*report.Document
	for _, cell := range cells {
		if d := s.done[cell]; d != nil {
			all = append(all, d)
		}
	}
	return all
}

// Close ends writing.
func (s *Store) Close() error {
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("closing the file of results: %w", err)
	}
	return nil
}

// Merge reads all files of results in a folder. A cell that is there more than once counts once; files under different
// settings are refused.
func Merge(folder string) (*Settings, []*report.Document, error) {
	files, err := filepath.Glob(filepath.Join(folder, filePrefix+"*"+fileExtension))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("no files %s*%s in %s: want the folder that sweeps wrote to with --out", filePrefix, fileExtension, folder)
	}
	var settings *Settings
	var all []*report.Document
	seen := map[Cell]bool{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fmt.Errorf("reading results: %w", err)
		}
		found, results, _, err := parse(path, data)
		switch {
		case err != nil:
			return nil, nil, err
		case found == nil:
			continue
		case settings == nil:
			settings = found
		case *settings != *found:
			return nil, nil, fmt.Errorf("%s: its settings %+v are not those of the other files, %+v", path, *found, *settings)
		}
		for _, d := range results {
			if !seen[cellOf(d)] {
				all = append(all, d)
			}
			seen[cellOf(d)] = true
		}
	}
	slices.SortStableFunc(all, func(a, b *report.Document) int {
		return strings.Compare(fmt.Sprintf("%s/%s/%020d", a.Trace, a.Policy, a.Seed), fmt.Sprintf("%s/%s/%020d", b.Trace, b.Policy, b.Seed))
	})
	return settings, all, nil
}
