package tracesink

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newSpool(t *testing.T, dir string, maxBytes int64) *spool {
	t.Helper()
	s, err := openSpool(dir, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *spool, entries ...string) (lost int) {
	t.Helper()
	for _, entry := range entries {
		n, err := s.append([]byte(entry))
		if err != nil {
			t.Fatal(err)
		}
		lost += n
	}
	n, err := s.flush()
	if err != nil {
		t.Fatal(err)
	}
	return lost + n
}

// drain reads everything from a place on.
func drain(t *testing.T, s *spool, from place) (entries []string, corrupt int, end place) {
	t.Helper()
	for {
		b, err := s.read(from, 7, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range b.entries {
			entries = append(entries, string(entry))
		}
		corrupt += b.corrupt
		if len(b.entries) == 0 && b.corrupt == 0 {
			return entries, corrupt, b.next
		}
		from = b.next
	}
}

func someEntries(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("entry %d", i))
	}
	return out
}

func TestWhatOneProcessLeavesTheNextOneFinds(t *testing.T) {
	dir := t.TempDir()
	first := newSpool(t, dir, 1<<20)
	put(t, first, someEntries(0, 10)...)
	if _, err := first.append([]byte("not flushed: lost with its process")); err != nil {
		t.Fatal(err)
	}
	second := newSpool(t, dir, 1<<20)
	put(t, second, someEntries(10, 20)...)
	got, corrupt, end := drain(t, second, second.first())
	if diff := cmp.Diff(someEntries(0, 20), got); diff != "" || corrupt != 0 {
		t.Errorf("%d corrupt, entries (-want +got):\n%s", corrupt, diff)
	}
	second.release(end)
	if !second.empty(end) {
		t.Error("the spool is not empty behind its end")
	}
	if err := second.close(end); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v is left of a spool that is all delivered", left, err)
	}
}

func TestACorruptSpool(t *testing.T) {
	size := len("entry 0") + entryHeader
	for _, tc := range []struct {
		name  string
		spoil func([]byte) []byte
		want  []string
	}{
		{"torn at the end, as by a process that was killed", func(b []byte) []byte { return b[:len(b)-3] }, someEntries(0, 4)},
		{"torn in a header", func(b []byte) []byte { return b[:4*size+5] }, someEntries(0, 4)},
		{"a bit is wrong: the entries around it are right", func(b []byte) []byte {
			b[2*size+entryHeader] ^= 1
			return b
		}, append(someEntries(0, 2), someEntries(3, 5)...)},
		{"a length is wrong: nothing after it can be found", func(b []byte) []byte {
			b[2*size+3] = 0xff
			return b
		}, someEntries(0, 2)},
		{"zeros, as after a crash of the machine", func(b []byte) []byte {
			clear(b[3*size:])
			return b
		}, someEntries(0, 3)},
		{"text", func([]byte) []byte { return []byte("this is not a spool, and never was one") }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			first := newSpool(t, dir, 1<<20)
			put(t, first, someEntries(0, 5)...)
			path := first.path(1)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tc.spoil(content), 0o600); err != nil {
				t.Fatal(err)
			}
			second := newSpool(t, dir, 1<<20)
			put(t, second, "new")
			got, corrupt, _ := drain(t, second, second.first())
			if diff := cmp.Diff(append(tc.want, "new"), got); diff != "" || corrupt != 1 {
				t.Errorf("%d places passed over, want 1; entries (-want +got):\n%s", corrupt, diff)
			}
		})
	}
}

// TestAFullSpoolLosesTheOldest: 40 entries of 1 KiB + 8 bytes in segments of 2 KiB, of which 8 KiB are kept.
func TestAFullSpoolLosesTheOldest(t *testing.T) {
	s := newSpool(t, t.TempDir(), 8<<10)
	lost := 0
	for i := range 40 {
		lost += put(t, s, fmt.Sprintf("%02d", i)+string(bytes.Repeat([]byte("x"), 1022)))
	}
	if s.bytes() > 8<<10 {
		t.Errorf("spool has %d bytes, want at most %d", s.bytes(), 8<<10)
	}
	got, _, _ := drain(t, s, place{segment: 1}) // the reader was still at the beginning
	if len(got)+lost != 40 || len(got) < 5 || got[len(got)-1][:2] != "39" {
		t.Errorf("%d entries are left and %d counted as lost, of 40; the last one is %.2s", len(got), lost, got[len(got)-1])
	}
	for i := range got {
		if want := fmt.Sprintf("%02d", lost+i); got[i][:2] != want {
			t.Errorf("entry %d is %.2s, want %s: the newest, without a gap", i, got[i], want)
		}
	}
}

// TestAFullDisk: every write to /dev/full fails as one to a full disk does.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(t, dir, 1<<20)
	if err := os.Symlink("/dev/full", s.path(1)); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for range 3 {
		if _, err := s.append([]byte("e")); err != nil {
			t.Fatal(err)
		}
	}
	if lost, err := s.flush(); err == nil || lost != 3 {
		t.Errorf("lost %d, error %v; want 3 and an error", lost, err)
	}
	if s.bytes() != 0 {
		t.Errorf("%d bytes are kept in memory, want none", s.bytes())
	}
	s.file = nil
	if err := os.Remove(s.path(1)); err != nil { // somebody made room
		t.Fatal(err)
	}
	put(t, s, "after")
	if got, corrupt, _ := drain(t, s, s.first()); len(got) != 1 || got[0] != "after" || corrupt != 0 {
		t.Errorf("found %q, %d corrupt; want what came after", got, corrupt)
	}
}

// TestTheSpoolIsAQueue compares with a list in memory, over random appends, reads, releases and restarts.
func TestTheSpoolIsAQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	s := newSpool(t, dir, 1<<20)
	s.maxSize = 200
	var all []string
	at, read, released := s.first(), 0, 0
	for range 2000 {
		switch random.IntN(10) {
		case 0, 1, 2, 3, 4:
			entry := fmt.Sprint(len(all), string(bytes.Repeat([]byte("y"), random.IntN(60))))
			all = append(all, entry)
			put(t, s, entry)
		case 5, 6, 7:
			b, err := s.read(at, 1+random.IntN(5), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range b.entries {
				if string(entry) != all[read] {
					t.Fatalf("entry %d is %q, want %q", read, entry, all[read])
				}
				read++
			}
			at = b.next
		case 8:
			s.release(at)
			released = read
		case 9: // the next process begins with the oldest segment: some entries may come again, none may be missing
			s = newSpool(t, dir, 1<<20)
			s.maxSize = 200
			at = s.first()
			entries, _, _ := drain(t, s, at)
			if first := len(all) - len(entries); first > released {
				t.Fatalf("entries from %d on are left, want at least those from %d on", first, released)
			}
			read = len(all) - len(entries)
		}
	}
	if len(all) < 500 || released == 0 {
		t.Fatalf("only %d entries, %d released", len(all), released)
	}
}

func TestOtherFilesInTheFolderAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes.txt", "zz.spool", "-1.spool"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSpool(t, dir, 1<<20)
	put(t, s, "a")
	if got, corrupt, _ := drain(t, s, s.first()); len(got) != 1 || corrupt != 0 {
		t.Errorf("found %q, %d corrupt", got, corrupt)
	}
}

// FuzzSpool: whatever a segment holds, reading ends without an error, and what comes after is found.
func FuzzSpool(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00????x"))
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%016x.spool", 7)), content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := newSpool(t, dir, 1<<20)
		put(t, s, "after")
		got, _, _ := drain(t, s, s.first())
		if len(got) == 0 || got[len(got)-1] != "after" {
			t.Errorf("found %q", got)
		}
	})
}
