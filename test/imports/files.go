package imports

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// MaxLines is the size that a Go file stays under: what one reader keeps in mind.
const MaxLines = 400

// SourceFile is what the file checks need to know of one Go file.
type SourceFile struct {
	// Path is slash-separated and relative to the module's folder.
	Path string
	// PackageName is the name in the package clause, without the suffix _test.
	PackageName string
	// Doc is the comment of the package clause, without comment marks.
	Doc string
	// Lines counts the newline characters.
	Lines int
	// Generated files carry the comment that Go's tools know: "Code generated ... DO NOT EDIT."
	Generated bool
}

// ReadFiles returns the Go files of one module in the order of their paths. Folders that Go ignores (those whose name
// starts with a dot or an underscore, and testdata) and modules below this one are left out.
func ReadFiles(fsys fs.FS) ([]SourceFile, error) {
	var files []SourceFile
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipFolder(fsys, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		file, err := readFile(fsys, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

func skipFolder(fsys fs.FS, name string) bool {
	if name == "." {
		return false
	}
	base := path.Base(name)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(name, "go.mod"))
	return err == nil
}

func readFile(fsys fs.FS, name string) (SourceFile, error) {
	content, err := fs.ReadFile(fsys, name)
	if err != nil {
		return SourceFile{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, content, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return SourceFile{}, fmt.Errorf("expected a Go file that parses: %w", err)
	}
	return SourceFile{
		Path:        name,
		PackageName: strings.TrimSuffix(parsed.Name.Name, "_test"),
		Doc:         parsed.Doc.Text(),
		Lines:       bytes.Count(content, []byte("\n")),
		Generated:   ast.IsGenerated(parsed),
	}, nil
}

// CheckLengths returns a sentence for each file that people write and that is too long.
func CheckLengths(files []SourceFile) []string {
	var faults []string
	for _, file := range files {
		if !file.Generated && file.Lines >= MaxLines {
			faults = append(faults, fmt.Sprintf("%s has %d lines: files stay under %d, so split it by what its parts do",
				file.Path, file.Lines, MaxLines))
		}
	}
	return faults
}

// CheckNames returns a sentence for each package whose name or folder says where things are put, not what they do.
func CheckNames(files []SourceFile) []string {
	drawers := []string{"util", "utils", "common", "helper", "helpers", "types"}
	var faults []string
	for _, folder := range folders(files) {
		names := []string{folder.packageName, path.Base(folder.path)}
		i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(drawers, name) })
		if i >= 0 {
			faults = append(faults, fmt.Sprintf("%s: a package named %q can hold anything: name it after what it does",
				folder.path, names[i]))
		}
	}
	return faults
}

// CheckDocs returns a sentence for each package without a doc.go that says what the package is for.
func CheckDocs(files []SourceFile) []string {
	var faults []string
	for _, folder := range folders(files) {
		i := slices.IndexFunc(files, func(f SourceFile) bool { return f.Path == path.Join(folder.path, "doc.go") })
		if i < 0 {
			faults = append(faults, folder.path+": no doc.go: say there what the package is for and what it must not import")
			continue
		}
		if doc := files[i].Doc; !strings.HasPrefix(doc, "Package "+folder.packageName) && !strings.HasPrefix(doc, "Command ") {
			faults = append(faults, fmt.Sprintf("%s: expected a comment that starts with \"Package %s\" (or \"Command\"), found %q",
				files[i].Path, folder.packageName, firstLine(doc)))
		}
	}
	return faults
}

type folder struct{ path, packageName string }

// folders lists each folder with Go files once, in the order of the files.
func folders(files []SourceFile) []folder {
	var all []folder
	for _, file := range files {
		one := folder{path: path.Dir(file.Path), packageName: file.PackageName}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
