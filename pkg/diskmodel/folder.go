package diskmodel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// vendorsFile is the name that a list of vendors has in a mounted ConfigMap: the key, as in the predecessor.
const vendorsFile = "diskVendors"

// readPath reads the file or folder of models. It returns the entries of each file; for a file that cannot be read
// those it had in previous, so that a mistake in a file takes no model away. The error says that the path itself
// cannot be read.
func readPath(path string, previous map[string][]entry) (files map[string][]entry, faults []error, err error) {
	names, err := modelFiles(path)
	if err != nil {
		return nil, nil, err
	}
	files = map[string][]entry{}
	for _, name := range names {
		entries, faultsHere, err := readEntries(name, previous[name])
		faults = append(faults, faultsHere...)
		if err != nil {
			faults = append(faults, err)
			entries = previous[name]
		}
		files[name] = entries
	}
	return files, faults, nil
}

// modelFiles returns the files of a folder that hold models, or the file itself.
func modelFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("want a file or folder of disk models: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	dir, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading the folder of disk models: %w", err)
	}
	var names []string
	for _, file := range dir {
		name := file.Name()
		// ConfigMaps are mounted with hidden folders beside the files; anything else may be a note to people.
		model := slices.Contains([]string{".yaml", ".yml", ".json", ".so"}, strings.ToLower(filepath.Ext(name)))
		if !strings.HasPrefix(name, ".") && (model || name == vendorsFile) {
			names = append(names, filepath.Join(path, name))
		}
	}
	if len(names) > MaxEntries {
		return nil, fmt.Errorf("want at most %d disk models in %s, found %d", MaxEntries, path, len(names))
	}
	return names, nil
}

// readEntries reads one file: a list of vendors, or a document that says which disk it is for. A document that is as
// it was in previous is not compiled again.
func readEntries(name string, previous []entry) (entries []entry, faults []error, err error) {
	if strings.EqualFold(filepath.Ext(name), ".so") {
		return nil, nil, fmt.Errorf("%s: %w", name, ErrNative)
	}
	data, err := readFile(name)
	if err != nil {
		return nil, nil, err
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		entries, faults, err = parseVendors(data)
		for i := range faults {
			faults[i] = &failure{reason: reasonList, err: fmt.Errorf("%s: %w", name, faults[i])}
		}
		if err != nil {
			return nil, nil, &failure{reason: reasonList, err: fmt.Errorf("%s: %w", name, err)}
		}
		return entries, faults, nil
	}
	if len(previous) == 1 && bytes.Equal(previous[0].inline, data) {
		return previous, nil, nil
	}
	_, key, err := Parse(data)
	if err == nil && key == (Key{}) {
		err = errors.New("want vendor and model in a document of a folder, found neither")
	}
	if err != nil {
		return nil, nil, &failure{reason: reasonDocument, err: fmt.Errorf("%s: %w", name, err)}
	}
	return []entry{{key: key, inline: data}}, nil, nil
}
