package localcluster

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSweepRemovesOnlyWhatNobodyOwns(t *testing.T) {
	parent := t.TempDir()
	living, livingOwner := mustFolder(t, parent, "living")
	orphan, orphanOwner := mustFolder(t, parent, "orphan")
	if err := orphanOwner.Close(); err != nil { // as the kernel does when the owner dies
		t.Fatal(err)
	}
	unfinished := filepath.Join(parent, folderPrefix+"unfinished-1") // its owner has not got to the lock yet
	foreign := filepath.Join(parent, "elsewhere-1")
	for _, folder := range []string{unfinished, foreign} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(foreign, ownerFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	sweep(t.Context(), parent)

	want := []string{filepath.Base(living), filepath.Base(unfinished), filepath.Base(foreign)}
	slices.Sort(want)
	if got := entries(t, parent); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v without %s", got, want, filepath.Base(orphan))
	}
	if err := livingOwner.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"demo-1":         "demo-1",
		"":               "cluster",
		"../../etc":      "..-..-etc",
		"cacheaware/x y": "cacheaware-x-y",
		"ä":              "-",
	} {
		if got := fileName(name); got != want {
			t.Errorf("fileName(%q) = %q, want %q", name, got, want)
		}
	}
}

func mustFolder(t *testing.T, parent, name string) (string, *os.File) {
	t.Helper()
	folder, owner, err := newFolder(parent, name)
	if err != nil {
		t.Fatal(err)
	}
	return folder, owner
}

// entries are the sorted names in a folder.
func entries(t *testing.T, folder string) []string {
	t.Helper()
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}
