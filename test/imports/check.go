package imports

import (
	"fmt"
	"slices"
	"strings"
)

// Package is the part of go list's answer that the table is about. Paths are full import paths.
type Package struct {
	Path string
	// Imports are those of the files that are built into programs.
	Imports []string
	// TestImports are those of the _test.go files, in the package and beside it.
	TestImports []string
}

// Breach is one import that the table does not allow, or, when Import is empty, one package that it does not know.
type Breach struct {
	Package string
	Import  string
	// Test says that only _test.go files have this import.
	Test bool
	Row  string
	Why  string
}

// String says who broke which row, and why the row exists.
func (b Breach) String() string {
	if b.Import == "" {
		return fmt.Sprintf("%s has no row in test/imports/table.go: say there what it may import and why", b.Package)
	}
	who := b.Package
	if b.Test {
		who = "a test of " + b.Package
	}
	return fmt.Sprintf("%s imports %s, against row %q of test/imports/table.go: %s", who, b.Import, b.Row, b.Why)
}

// Check returns the breaches of the rows in the packages of one module, in the order of packages and imports.
func Check(rows []Row, packages []Package) []Breach {
	var breaches []Breach
	for _, p := range packages {
		row, root, known := rowOf(rows, p.Path)
		if !known {
			breaches = append(breaches, Breach{Package: p.Path})
			continue
		}
		for _, path := range p.Imports {
			if !row.allows(root, path) {
				breaches = append(breaches, Breach{Package: p.Path, Import: path, Row: row.Name, Why: row.Why})
			}
		}
		for _, path := range p.TestImports {
			if slices.Contains(p.Imports, path) || row.allows(root, path) || matchesAny(row.TestsAlso, path) {
				continue
			}
			breaches = append(breaches, Breach{Package: p.Path, Import: path, Test: true, Row: row.Name, Why: row.Why})
		}
	}
	return breaches
}

// rowOf finds the row with the most specific root at or above a package: the longest one, and among those of one
// length the one without a wildcard. The returned root is the full path of the package's part, wildcards resolved.
func rowOf(rows []Row, path string) (row Row, root string, known bool) {
	segments := strings.Split(path, "/")
	best := 0
	for _, candidate := range rows {
		for _, pattern := range candidate.Roots {
			full := Module + "/" + pattern
			if !match(full+"/**", path) {
				continue
			}
			length := strings.Count(full, "/") + 1
			rank := 2 * length
			if !strings.Contains(pattern, "*") {
				rank++
			}
			if rank > best {
				best, row, root = rank, candidate, strings.Join(segments[:length], "/")
			}
		}
	}
	return row, root, best > 0
}

// allows reports whether a package of the part at root may import path outside its tests.
func (r Row) allows(root, path string) bool {
	switch {
	case matchesAny(r.Never, path):
		return false
	case match(root+"/**", path):
		return true
	case match(Module+"/cmd/**", path):
		return false
	case match(Module+"/**", path):
		inside := strings.TrimPrefix(path, Module+"/")
		return matchesAny(r.Inside, inside)
	case isStandard(path):
		return true
	default:
		return r.Outside == nil || matchesAny(r.Outside, path)
	}
}

// isStandard tells the standard library's packages from those of modules, whose first segment is a host name.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return match(pattern, path) })
}

// match compares segment by segment: "*" stands for any one, a last "**" for any number, none included.
func match(pattern, path string) bool {
	segments := strings.Split(path, "/")
	for i, want := range strings.Split(pattern, "/") {
		switch {
		case want == "**":
			return true
		case i == len(segments):
			return false
		case want != "*" && want != segments[i]:
			return false
		}
	}
	return len(segments) == strings.Count(pattern, "/")+1
}
