package datasets

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	errNotConnected = &os.PathError{Op: "lstat", Path: "mount", Err: syscall.ENOTCONN}
	errIO           = &os.PathError{Op: "readdirent", Path: "folder", Err: syscall.EIO}
)

// faultyFolder is a folder of real files in which some things go wrong. The keys are base names.
type faultyFolder struct {
	folder

	name   string
	faults *faults
}

type faults struct {
	names     map[string]error    // of the folder's list
	lstat     map[string]error    // of an entry
	device    map[string]uint64   // what an entry is on
	opening   map[string]func()   // called before a folder is opened
	listed    func(folder string) // called before each read of a list
	anonymous bool                // no entry tells its inode, device or blocks
}

func (f *faultyFolder) Names(n int) ([]string, error) {
	if f.faults.listed != nil {
		f.faults.listed(f.name)
	}
	if err := f.faults.names[f.name]; err != nil {
		return nil, err
	}
	return f.folder.Names(n)
}

func (f *faultyFolder) Lstat(name string) (fs.FileInfo, error) {
	if err := f.faults.lstat[name]; err != nil {
		return nil, err
	}
	info, err := f.folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	stat := *info.Sys().(*syscall.Stat_t)
	if device, ok := f.faults.device[name]; ok {
		stat.Dev = device
	}
	if f.faults.anonymous {
		return otherInfo{info, nil}, nil
	}
	return otherInfo{info, &stat}, nil
}

func (f *faultyFolder) Open(name string, described fs.FileInfo) (folder, error) {
	if hook := f.faults.opening[name]; hook != nil {
		hook()
	}
	opened, err := f.folder.Open(name, described.(otherInfo).FileInfo)
	if err != nil {
		return nil, err
	}
	return &faultyFolder{opened, name, f.faults}, nil
}

type otherInfo struct {
	fs.FileInfo

	stat *syscall.Stat_t
}

func (i otherInfo) Sys() any {
	if i.stat == nil {
		return nil
	}
	return i.stat
}

type faultySite struct {
	*faultyFolder

	site site
}

func (s faultySite) InPlace() error { return s.site.InPlace() }

// inject makes things go wrong in a root.
func inject(r *root, f *faults) {
	r.open = func(path string) (site, error) {
		top, err := openSite(path)
		if err != nil {
			return nil, err
		}
		return faultySite{&faultyFolder{top, "", f}, top}, nil
	}
}

func TestFaultsAboveADatasetDoNotMakeItVanish(t *testing.T) {
	tests := []struct {
		name   string
		faults *faults
	}{
		{name: "the list of the root", faults: &faults{names: map[string]error{"": errIO}}},
		{name: "the list of the namespace", faults: &faults{names: map[string]error{"team": errIO}}},
		{name: "the list of the dataset", faults: &faults{names: map[string]error{"ds1": errIO}}},
		{name: "a dead mount in the dataset's place", faults: &faults{lstat: map[string]error{"ds1": errNotConnected}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := t.TempDir()
			writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
			r := newRoot(t, path)
			pass(t, r, start(), atOnce)
			want := counted(r)

			inject(r, tt.faults)
			pass(t, r, start().Add(keepFor-time.Second), atOnce)
			if diff := cmp.Diff(want, counted(r)); diff != "" || len(want) != 1 {
				t.Errorf("counts while it is young (-want +got):\n%s", diff)
			}
			expectSkips(t, r, map[string]int{skippedUnreadable: 1})
			pass(t, r, start().Add(keepFor), atOnce)
			if len(r.counts) != 0 {
				t.Errorf("counts %v when it is old, want none", r.counts)
			}
		})
	}
}

func TestFaultsInADatasetLeaveOutWhatTheyHit(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
	writeFile(t, filepath.Join(path, "team/ds1/broken"), 5000)
	writeFile(t, filepath.Join(path, "team/ds1/sick/file"), 5000)
	writeFile(t, filepath.Join(path, "team/ds1/mounted/file"), 5000)
	writeFile(t, filepath.Join(path, "team/mounted/file"), 5000)
	r := newRoot(t, path)
	inject(r, &faults{
		names:  map[string]error{"sick": errIO},
		lstat:  map[string]error{"broken": errNotConnected},
		device: map[string]uint64{"mounted": 1 << 40},
	})
	pass(t, r, start(), atOnce)
	file := referenceCount(t, filepath.Join(path, "team/ds1/sick"))
	if diff := cmp.Diff(map[datasetName]int64{{"team", "ds1"}: file}, counted(r)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	expectSkips(t, r, map[string]int{skippedUnreadable: 2, skippedDevice: 2})
}

func TestSizesCountWhereBlocksAreNotTold(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/a"), 5000)
	writeFile(t, filepath.Join(path, "team/ds1/b"), 7)
	r := newRoot(t, path)
	inject(r, &faults{anonymous: true})
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(map[datasetName]int64{{"team", "ds1"}: 5007}, counted(r)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// Between the look at a name and its opening, a tenant puts a link in the folder's place.
func TestAFolderReplacedByALinkIsNotFollowed(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
	writeFile(t, filepath.Join(path, "team/ds1/big/file"), 50000)
	writeFile(t, filepath.Join(path, "team/ds1/small/file"), 5000)
	want := referenceCount(t, filepath.Join(path, "team/ds1/file"))
	small, big := filepath.Join(path, "team/ds1/small"), filepath.Join(path, "team/ds1/big")
	for name, target := range map[string]string{"inside": "big", "outside": "/etc", "nowhere": "nowhere"} {
		t.Run(name, func(t *testing.T) {
			must(t, os.RemoveAll(small))
			makeFolder(t, small)
			r := newRoot(t, path)
			inject(r, &faults{opening: map[string]func(){"small": func() {
				must(t, os.Remove(small))
				must(t, os.Symlink(target, small))
			}}})
			pass(t, r, start(), atOnce)
			got := r.counts[datasetName{"team", "ds1"}].bytes
			if want := want + referenceCount(t, big); got != want {
				t.Errorf("count %d, want %d: what is behind the link is not counted there", got, want)
			}
		})
	}
}

func TestAFolderReplacedByAPipeDoesNotHang(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
	trap := filepath.Join(path, "team/ds1/trap")
	makeFolder(t, trap)
	r := newRoot(t, path)
	inject(r, &faults{opening: map[string]func(){"trap": func() {
		must(t, os.Remove(trap))
		must(t, syscall.Mkfifo(trap, 0o600))
	}}})
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(referenceCounts(t, path), counted(r)); diff != "" {
		t.Errorf("counts (-reference +got):\n%s", diff)
	}
}

// moved is a root of which a count is known, and that goes away when the walk after that is in the dataset.
func moved(t *testing.T, goAway func(path string)) *root {
	t.Helper()
	path := filepath.Join(t.TempDir(), "root")
	for i := range 600 {
		writeFile(t, filepath.Join(path, "team/ds1", strings.Repeat("x", 1+i%200)+"-", string(rune('a'+i/200))), 5000)
	}
	r := newRoot(t, path)
	pass(t, r, start(), atOnce)
	if result, err := r.advance(testContext(t), start(), newPace(unlimited), 300); result != more || err != nil {
		t.Fatalf("advance() = %v, %v, want more to do", result, err)
	}
	goAway(path)
	return r
}

func TestARootThatGoesAwayUnderAWalkKeepsItsCountsForAWhile(t *testing.T) {
	tests := []struct {
		name   string
		goAway func(t *testing.T, path string)
	}{
		{name: "renamed", goAway: func(t *testing.T, path string) { must(t, os.Rename(path, path+"-old")) }},
		{name: "replaced", goAway: func(t *testing.T, path string) {
			must(t, os.Rename(path, path+"-old"))
			makeFolder(t, path)
		}},
		{name: "deleted", goAway: func(t *testing.T, path string) { must(t, os.RemoveAll(path)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := moved(t, func(path string) { tt.goAway(t, path) })
			want := counted(r)
			gone := start().Add(time.Hour)
			result, err := r.advance(testContext(t), gone, newPace(unlimited), atOnce())
			if result != finished || err != nil {
				t.Errorf("advance() = %v, %v, want the end of the walk and no error", result, err)
			}
			if diff := cmp.Diff(want, counted(r)); diff != "" || len(want) != 1 {
				t.Errorf("counts right after (-want +got):\n%s", diff)
			}
			if r.walk != nil || r.lostSince != gone {
				t.Errorf("walk %v, lost since %s; want none, lost since %s", r.walk, r.lostSince, gone)
			}
		})
	}
}

func TestARootThatIsAwayIsForgottenAndComesBack(t *testing.T) {
	r := moved(t, func(path string) { must(t, os.Rename(path, path+"-old")) })
	want := counted(r)
	for after, known := range map[time.Duration]bool{0: true, keepFor - time.Second: true} {
		pass(t, r, start().Add(after), atOnce)
		if (len(r.counts) == 1) != known {
			t.Errorf("counts %v after %s, want them kept: %t", r.counts, after, known)
		}
	}
	pass(t, r, r.lostSince.Add(keepFor), atOnce)
	if len(r.counts) != 0 {
		t.Errorf("counts %v after %s, want none", r.counts, keepFor)
	}
	must(t, os.Rename(r.path+"-old", r.path))
	pass(t, r, start().Add(time.Hour), atOnce)
	if diff := cmp.Diff(want, counted(r)); diff != "" {
		t.Errorf("counts when it is back (-want +got):\n%s", diff)
	}
	if !r.lostSince.IsZero() {
		t.Error("the root is back and still counts as lost")
	}
}

func TestARootThatWasNeverThereIsNoError(t *testing.T) {
	r := newRoot(t, filepath.Join(t.TempDir(), "nowhere"))
	pass(t, r, start(), atOnce)
	if r.settled {
		t.Error("nothing is known of the root yet: what an earlier agent reported may still be there")
	}
	pass(t, r, start().Add(keepFor), atOnce)
	if !r.settled {
		t.Error("the root was not given up")
	}
}

func TestARootThatIsNoFolderIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, 1)
	r := newRoot(t, file)
	_, err := r.advance(testContext(t), start(), newPace(unlimited), 1)
	if err == nil || !strings.Contains(err.Error(), "dataset root "+file+" cannot be read: open "+file+": not a directory") {
		t.Errorf("advance() = %v, want an error that names the file", err)
	}
}

func TestAWalkThatPanickedIsNotTakenUpAgain(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
	r := newRoot(t, path)
	armed := true
	inject(r, &faults{listed: func(folder string) {
		if armed && folder == "ds1" {
			armed = false
			panic("assignment to entry in nil map")
		}
	}})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		pass(t, r, start(), atOnce)
	}()
	if len(r.counts) != 0 || r.walk != nil {
		t.Fatalf("counts %v and walk %v after the panic, want none", r.counts, r.walk)
	}
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(referenceCounts(t, path), counted(r)); diff != "" {
		t.Errorf("counts of the next walk (-reference +got):\n%s", diff)
	}
}

func TestOnlySoManyDatasetsAreRemembered(t *testing.T) {
	r := newRoot(t, t.TempDir())
	for i := range maxDatasets {
		r.counts[datasetName{"team", strconv.Itoa(i)}] = observation{bytes: 1}
	}
	known := datasetName{"team", "5"}
	r.record(known, 7, start())
	r.record(datasetName{"team", "one-more"}, 7, start())
	if _, ok := r.counts[datasetName{"team", "one-more"}]; ok || r.counts[known].bytes != 7 {
		t.Error("want a known dataset updated and a new one left out")
	}
	expectSkips(t, r, map[string]int{skippedTooMany: 1})
}
