package diskmodel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const forDisk = "vendor: V\nmodel: M\n"

func TestPathIsTheListItself(t *testing.T) {
	path := write(t, t.TempDir(), "diskVendors", vendorList(t, map[string]any{"inline": double}))
	l := newTestLoader(t, Options{Path: path})
	mustRefresh(t, l)
	wantCost(t, l, 200, true)
}

func TestPathIsOneDocument(t *testing.T) {
	l := newTestLoader(t, Options{Path: write(t, t.TempDir(), "disk", forDisk+double)})
	mustRefresh(t, l)
	wantCost(t, l, 200, true)
}

func TestPathIsAFolder(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a.yaml", forDisk+double)
	write(t, folder, "diskVendors", fmt.Sprintf(`[{"vendor":"V","model":"other","inline":%q}]`, triple))
	write(t, folder, "README.md", "# not a model")
	write(t, folder, ".hidden.yaml", "neither is this")
	if err := os.Mkdir(filepath.Join(folder, "..data"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := newTestLoader(t, Options{Path: folder})
	mustRefresh(t, l)
	wantCost(t, l, 200, true)
	if other, known := cost(t, l, "V", "other"); other != 300 || !known || l.Snapshot().Len() != 2 {
		t.Errorf("the other disk costs %d, known %v, of %d models; want 300 and 2 models", other, known, l.Snapshot().Len())
	}

	// A list that names the same disk replaces the file's document.
	mustSet(t, l, vendorList(t, map[string]any{"inline": triple}))
	mustRefresh(t, l)
	wantCost(t, l, 300, true)
	mustSet(t, l, "")

	// A mistake in the file takes nothing away; the file's removal does.
	write(t, folder, "a.yaml", forDisk+"kind: Tabel\n")
	if err := l.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), `a.yaml: kind: want Table, CEL or Identity, found "Tabel"`) {
		t.Errorf("error %v, want one that names the file", err)
	}
	wantCost(t, l, 200, true)
	wantFailures(t, l, reasonDocument, 1)
	if err := os.Remove(filepath.Join(folder, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	mustRefresh(t, l)
	wantCost(t, l, 100, false)
}

func TestFaultsOfFolders(t *testing.T) {
	cases := map[string]struct{ name, content, reason, wantErr string }{
		"a native plug-in":            {"z.so", "\x7fELF", reasonNative, "native plug-ins are not loaded"},
		"a document for no disk":      {"z.yaml", double, reasonDocument, "want vendor and model in a document of a folder"},
		"a second document of a disk": {"z.yml", forDisk + triple, reasonList, "has a document in another file already"},
		"a list that is none":         {"diskVendors", "[{]", reasonList, "want a JSON list such as"},
		"a list with a fault":         {"diskVendors", `[{"vendor":"a","model":"b"}]`, reasonList, "want either url or inline"},
		"larger than any document":    {"z.json", strings.Repeat(" ", MaxDocument+1), reasonFetch, "z.json: want a document of at most 1048576 bytes, found more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "a.yaml", forDisk+double)
			write(t, folder, tc.name, tc.content)
			l := newTestLoader(t, Options{Path: folder})
			if err := l.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			wantFailures(t, l, tc.reason, 1)
			wantCost(t, l, 200, true)
		})
	}
}

func TestPathThatGoesAway(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "models")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, "a.yaml", forDisk+double)
	l := newTestLoader(t, Options{Path: path})
	mustRefresh(t, l)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "want a file or folder of disk models") {
		t.Errorf("error %v, want one that says what is missing", err)
	}
	wantCost(t, l, 200, true)
}

func TestURLOfAFolder(t *testing.T) {
	l := newTestLoader(t, Options{})
	mustSet(t, l, vendorList(t, map[string]any{"url": "file://" + t.TempDir()}))
	if err := l.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("error %v, want a regular file", err)
	}
}
