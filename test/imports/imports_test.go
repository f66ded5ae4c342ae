package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vicinity-scheduler/vicinity/test/imports"
)

func TestModuleFollowsTheImportTable(t *testing.T) {
	for _, breach := range imports.Check(imports.Table(), listPackages(t)) {
		t.Error(breach)
	}
}

func TestPackageNamesSayWhatPackagesDo(t *testing.T) {
	report(t, imports.CheckNames(readModule(t)))
}

func TestEachPackageHasItsDocFile(t *testing.T) {
	report(t, imports.CheckDocs(readModule(t)))
}

func TestFilesStayShort(t *testing.T) {
	report(t, imports.CheckLengths(readModule(t)))
}

func report(t *testing.T, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Error(fault)
	}
}

// readModule reads every Go file of the module. That also tells the test cache which files the result depends on: what
// go list reads it cannot see.
func readModule(t *testing.T) []imports.SourceFile {
	t.Helper()
	files, err := imports.ReadFiles(os.DirFS(moduleFolder(t)))
	if err != nil {
		t.Fatal(err)
	}
	itself := func(f imports.SourceFile) bool { return f.Path == "test/imports/imports_test.go" }
	if !slices.ContainsFunc(files, itself) {
		t.Fatalf("expected this test among the module's %d Go files: the wrong folder was read", len(files))
	}
	return files
}

func listPackages(t *testing.T) []imports.Package {
	t.Helper()
	readModule(t)
	decoder := json.NewDecoder(bytes.NewReader(goCommand(t, "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")))
	var packages []imports.Package
	for {
		var listed struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		err := decoder.Decode(&listed)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("expected JSON from go list: %v", err)
		}
		packages = append(packages, imports.Package{
			Path:        listed.ImportPath,
			Imports:     listed.Imports,
			TestImports: slices.Concat(listed.TestImports, listed.XTestImports),
		})
	}
}

func moduleFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = moduleFolder(t)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}
