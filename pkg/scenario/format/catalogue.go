package format

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Load parses every scenario of fsys, which has them at <plugin>/<name>.yaml, and returns them sorted by ID.
func Load(fsys fs.FS) ([]*Scenario, error) {
	files, err := fs.Glob(fsys, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing scenarios: %w", err)
	}
	var scenarios []*Scenario
	var errs []error
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading scenario: %w", err))
			continue
		}
		s, err := Parse(file, data)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		scenarios = append(scenarios, s)
	}
	slices.SortFunc(scenarios, func(a, b *Scenario) int { return strings.Compare(a.ID(), b.ID()) })
	return scenarios, errors.Join(errs...)
}

// LoadFile parses a scenario file outside of the catalogue. The folder that holds it names the plugin.
func LoadFile(file string) (*Scenario, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("reading scenario: %w", err)
	}
	data, err := os.ReadFile(absolute)
	if err != nil {
		return nil, fmt.Errorf("reading scenario: %w", err)
	}
	return Parse(filepath.ToSlash(absolute), data)
}

// Select returns the scenarios that the arguments name, each once, in the order of the catalogue and then of the
// arguments. An argument is an ID, a glob over IDs such as cacheaware/*, or the path of a file, which ends in .yaml.
// Without arguments it returns the whole catalogue.
func Select(catalogue []*Scenario, arguments []string) ([]*Scenario, error) {
	if len(arguments) == 0 {
		return catalogue, nil
	}
	chosen := map[string]bool{}
	var files []*Scenario
	var errs []error
	for _, argument := range arguments {
		if strings.HasSuffix(argument, ".yaml") {
			s, err := LoadFile(argument)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			files = append(files, s)
			continue
		}
		ids, err := match(catalogue, argument)
		if err != nil {
			errs = append(errs, err)
		}
		for _, id := range ids {
			chosen[id] = true
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	selected := slices.DeleteFunc(slices.Clone(catalogue), func(s *Scenario) bool { return !chosen[s.ID()] })
	return appendNew(selected, files)
}

// appendNew adds scenarios read from files. Two scenarios with one ID would share a namespace and an output line.
func appendNew(selected, files []*Scenario) ([]*Scenario, error) {
	for _, s := range files {
		if slices.ContainsFunc(selected, func(other *Scenario) bool { return other.ID() == s.ID() }) {
			return nil, fmt.Errorf("scenario %s was chosen twice, once as a file", s.ID())
		}
		selected = append(selected, s)
	}
	return selected, nil
}

func match(catalogue []*Scenario, pattern string) ([]string, error) {
	var ids []string
	for _, s := range catalogue {
		ok, err := path.Match(pattern, s.ID())
		if err != nil {
			return nil, fmt.Errorf("scenario pattern %q: %w", pattern, err)
		}
		if ok {
			ids = append(ids, s.ID())
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no scenario %q; %s", pattern, suggest(catalogue, pattern))
	}
	return ids, nil
}

// suggest lists the scenarios that look like what was asked for, else all of them.
func suggest(catalogue []*Scenario, pattern string) string {
	wanted := path.Base(pattern)
	var similar, all []string
	for _, s := range catalogue {
		all = append(all, s.ID())
		if strings.Contains(s.ID(), wanted) || distance(s.Name, wanted) <= max(2, len(wanted)/4) {
			similar = append(similar, s.ID())
		}
	}
	if len(similar) > 0 {
		return "did you mean " + strings.Join(similar, ", ") + "?"
	}
	return "there are " + strings.Join(all, ", ")
}

// distance is the Levenshtein distance in bytes: how many insertions, deletions and replacements lead from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
