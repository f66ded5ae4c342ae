package v1

import (
	"errors"
	"fmt"
	"strings"
)

const (
	namespacePlaceholder = "{namespace}"
	datasetPlaceholder   = "{dataset}"

	maxLayoutSegments = 16
	// maxFolderName is the longest name that a file system of Linux takes.
	maxFolderName = 255
)

// DatasetLayout says which folders below a root are datasets, and of which namespace. Use ParseDatasetLayout.
//
// +kubebuilder:object:generate=false
type DatasetLayout struct {
	segments []string
}

// ParseDatasetLayout reads a layout such as "{namespace}/{dataset}" or "pools/{dataset}/{namespace}/data": a relative
// path of up to 16 segments, of which exactly one is {namespace}, exactly one is {dataset}, and the others are names of
// folders. A placeholder stands for a whole segment; braces have no other use.
func ParseDatasetLayout(text string) (DatasetLayout, error) {
	if text == "" {
		return DatasetLayout{}, fmt.Errorf("expected a relative path with %s and %s, found nothing; %q is usual",
			namespacePlaceholder, datasetPlaceholder, DefaultDatasetLayout)
	}
	segments := strings.Split(text, "/")
	if len(segments) > maxLayoutSegments {
		return DatasetLayout{}, fmt.Errorf("expected at most %d segments, found %d", maxLayoutSegments, len(segments))
	}
	found := map[string]int{}
	for i, segment := range segments {
		if segment == namespacePlaceholder || segment == datasetPlaceholder {
			found[segment]++
			continue
		}
		if err := checkLiteral(segment); err != nil {
			return DatasetLayout{}, fmt.Errorf("segment %d, %q: %w", i+1, segment, err)
		}
	}
	for _, placeholder := range []string{namespacePlaceholder, datasetPlaceholder} {
		if n := found[placeholder]; n != 1 {
			return DatasetLayout{}, fmt.Errorf("expected %s as exactly one segment, found it %d times", placeholder, n)
		}
	}
	return DatasetLayout{segments}, nil
}

func checkLiteral(segment string) error {
	switch {
	case segment == "":
		return errors.New("expected a name, found nothing; remove the slash")
	case segment == "." || segment == "..":
		return errors.New("expected a name, not a direction")
	case strings.ContainsAny(segment, "{}"):
		return fmt.Errorf("braces are for %s and %s, each a segment of its own", namespacePlaceholder, datasetPlaceholder)
	case strings.ContainsRune(segment, 0):
		return errors.New("a name must not contain a NUL character")
	case len(segment) > maxFolderName:
		return fmt.Errorf("a name has at most %d bytes, found %d", maxFolderName, len(segment))
	}
	return nil
}

// String is the text that the layout was parsed from.
func (l DatasetLayout) String() string { return strings.Join(l.segments, "/") }

// Depth is the number of folders from the root to a dataset's own, that one included.
func (l DatasetLayout) Depth() int { return len(l.segments) }

// Match tells whether a path below the root, given as its folders, leads to a dataset or is one. Of the names, those
// that the path has already are returned; at the full depth that is both. Longer paths do not match.
func (l DatasetLayout) Match(folders []string) (namespace, dataset string, ok bool) {
	if len(folders) > len(l.segments) {
		return "", "", false
	}
	for i, folder := range folders {
		switch segment := l.segments[i]; segment {
		case namespacePlaceholder:
			namespace = folder
		case datasetPlaceholder:
			dataset = folder
		case folder:
		default:
			return "", "", false
		}
	}
	return namespace, dataset, true
}
