package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// writeFile makes a file with so many bytes, and the folders above it.
func writeFile(t testing.TB, path string, size int) {
	t.Helper()
	makeFolder(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func makeFolder(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// referenceCount is the number of bytes below a folder, found in the simplest way that there is.
func referenceCount(t testing.TB, folder string) int64 {
	t.Helper()
	var sum int64
	seen := map[uint64]bool{}
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		if !seen[stat.Ino] {
			seen[stat.Ino] = true
			sum += stat.Blocks * 512
		}
		return nil
	})
	must(t, err)
	return sum
}

// referenceCounts is what a root with the default layout holds. Datasets without a byte are not in it.
func referenceCounts(t testing.TB, root string) map[datasetName]int64 {
	t.Helper()
	found := map[datasetName]int64{}
	datasets, err := filepath.Glob(filepath.Join(root, "*", "*"))
	must(t, err)
	for _, path := range datasets {
		if !isFolder(t, path) || !isFolder(t, filepath.Dir(path)) {
			continue
		}
		if sum := referenceCount(t, path); sum > 0 {
			found[datasetName{filepath.Base(filepath.Dir(path)), filepath.Base(path)}] = sum
		}
	}
	return found
}

func isFolder(t testing.TB, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.IsDir()
}

// randomTree grows files, sparse files, hard links, symbolic links (in circles, too), pipes and folders below a root.
func randomTree(t testing.TB, r *rand.Rand, root string) {
	t.Helper()
	for ns := range 1 + r.IntN(3) {
		for ds := range r.IntN(4) {
			grow(t, r, filepath.Join(root, fmt.Sprintf("ns%d", ns), fmt.Sprintf("ds%d", ds)), 4, root)
		}
	}
}

func grow(t testing.TB, r *rand.Rand, folder string, depth int, root string) {
	t.Helper()
	makeFolder(t, folder)
	var files []string
	for i := range r.IntN(12) {
		path := filepath.Join(folder, fmt.Sprintf("%d ä\n", i))
		switch kind := r.IntN(10); {
		case kind < 3:
			writeFile(t, path, r.IntN(20000))
			files = append(files, path)
		case kind < 4:
			writeFile(t, path, 1)
			must(t, os.Truncate(path, int64(1+r.IntN(1<<30))))
			files = append(files, path)
		case kind < 6 && len(files) > 0:
			must(t, os.Link(files[r.IntN(len(files))], path))
		case kind < 7:
			must(t, os.Symlink([]string{".", "..", root, "nowhere", "/etc"}[r.IntN(5)], path))
		case kind < 8:
			must(t, syscall.Mkfifo(path, 0o600))
		case depth > 0:
			grow(t, r, path, depth-1, root)
		}
	}
}

// openFiles is the number of descriptors of the process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no /proc to count open files with")
	}
	must(t, err)
	return len(entries)
}
