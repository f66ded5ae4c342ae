package datasets

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

const unlimited = 1000000000

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// testContext is the test's context with a logger that writes to the test's output.
func testContext(t testing.TB) context.Context {
	t.Helper()
	return klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.NewConfig()))
}

// newRoot is a root of real files with the default layout.
func newRoot(t testing.TB, path string) *root {
	t.Helper()
	m, err := newMetrics(prometheus.NewRegistry(), []string{path})
	must(t, err)
	r := &root{
		path: path, medium: vicinityv1alpha1.MediumSSD, layout: mustLayout(t, configv1.DefaultDatasetLayout), open: openSite,
		metrics: m.roots[path], counts: map[datasetName]observation{},
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func mustLayout(t testing.TB, text string) configv1.DatasetLayout {
	t.Helper()
	layout, err := configv1.ParseDatasetLayout(text)
	must(t, err)
	return layout
}

// pass walks through the root once, in portions of so many steps, and returns how many it took.
func pass(t testing.TB, r *root, now time.Time, steps func() int) int {
	t.Helper()
	for portions := 1; ; portions++ {
		result, err := r.advance(testContext(t), now, newPace(unlimited), steps())
		must(t, err)
		if result == finished {
			return portions
		}
	}
}

func atOnce() int { return 1 << 30 }

func counted(r *root) map[datasetName]int64 {
	found := map[datasetName]int64{}
	for name, seen := range r.counts {
		found[name] = seen.bytes
	}
	return found
}

func skipped(r *root, reason string) int {
	return int(testutil.ToFloat64(r.metrics.walk.skipped[reason]))
}

// expectSkips checks that so much was skipped and nothing for another reason.
func expectSkips(t *testing.T, r *root, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for reason := range r.metrics.walk.skipped {
		if n := skipped(r, reason); n > 0 {
			got[reason] = n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestWalkCountsWhatIsAllocated(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/plain/file"), 10000)
	writeFile(t, filepath.Join(path, "team/plain/deep/in/it/file"), 1)

	sparse := filepath.Join(path, "team/sparse/file")
	writeFile(t, sparse, 1)
	must(t, os.Truncate(sparse, 1<<32))

	writeFile(t, filepath.Join(path, "team/linked/file"), 8192)
	must(t, os.Link(filepath.Join(path, "team/linked/file"), filepath.Join(path, "team/linked/again")))
	makeFolder(t, filepath.Join(path, "team/linked/sub"))
	must(t, os.Link(filepath.Join(path, "team/linked/file"), filepath.Join(path, "team/linked/sub/third")))
	// It is in this dataset too, and would be there if the other one were deleted.
	makeFolder(t, filepath.Join(path, "team/shared"))
	must(t, os.Link(filepath.Join(path, "team/linked/file"), filepath.Join(path, "team/shared/file")))

	makeFolder(t, filepath.Join(path, "team/empty/folder"))
	writeFile(t, filepath.Join(path, "team/no-dataset"), 100)
	writeFile(t, filepath.Join(path, "no-namespace"), 100)

	r := newRoot(t, path)
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(referenceCounts(t, path), counted(r)); diff != "" {
		t.Errorf("counts (-reference +got):\n%s", diff)
	}
	got := counted(r)
	if sparse := got[datasetName{"team", "sparse"}]; sparse <= 0 || sparse > 1<<20 {
		t.Errorf("the sparse file of 4 GiB counts %d bytes, want the block or so that is there", sparse)
	}
	linked, shared := got[datasetName{"team", "linked"}], got[datasetName{"team", "shared"}]
	if linked != shared || linked < 8192 {
		t.Errorf("three names of a file count %d bytes, one counts %d, want the same", linked, shared)
	}
	if _, ok := got[datasetName{"team", "empty"}]; ok || len(got) != 4 {
		t.Errorf("datasets %v, want the four with bytes", got)
	}
	expectSkips(t, r, map[string]int{})
}

func TestWalkFollowsNoLink(t *testing.T) {
	path, outside := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(outside, "ds/file"), 100000)
	writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
	for name, target := range map[string]string{
		"team/ds1/loop":       ".",
		"team/ds1/up":         "../..",
		"team/ds1/outside":    outside,
		"team/ds1/file-link":  filepath.Join(outside, "ds/file"),
		"team/ds1/nowhere":    "nowhere",
		"team/linked-dataset": outside,
		"linked-namespace":    outside,
	} {
		must(t, os.Symlink(target, filepath.Join(path, name)))
	}
	r := newRoot(t, path)
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(referenceCounts(t, path), counted(r)); diff != "" {
		t.Errorf("counts (-reference +got):\n%s", diff)
	}
	expectSkips(t, r, map[string]int{skippedLink: 2})

	// The root itself is the administrator's choice.
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	linked := newRoot(t, link)
	pass(t, linked, start(), atOnce)
	if diff := cmp.Diff(counted(r), counted(linked)); diff != "" {
		t.Errorf("counts through a link to the root (-direct +linked):\n%s", diff)
	}
}

func TestWalkKeepsToTheLayout(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "pools/ds1/team/data/file"), 5000)
	writeFile(t, filepath.Join(path, "pools/ds1/team/tmp/file"), 5000)
	writeFile(t, filepath.Join(path, "pools/ds1/other/data/file"), 9000)
	writeFile(t, filepath.Join(path, "pools/ds2/team/datum/file"), 5000)
	writeFile(t, filepath.Join(path, "Pools/ds3/team/data/file"), 5000)
	writeFile(t, filepath.Join(path, "pools/lost+found/team/data/file"), 5000)
	writeFile(t, filepath.Join(path, "pools/ds4/Team/data/file"), 5000)
	writeFile(t, filepath.Join(path, "pools/"+strings.Repeat("d", 254)+"/team/data/file"), 5000)

	r := newRoot(t, path)
	r.layout = mustLayout(t, "pools/{dataset}/{namespace}/data")
	pass(t, r, start(), atOnce)
	want := map[datasetName]int64{
		{"team", "ds1"}:  referenceCount(t, filepath.Join(path, "pools/ds1/team/data")),
		{"other", "ds1"}: referenceCount(t, filepath.Join(path, "pools/ds1/other/data")),
	}
	if diff := cmp.Diff(want, counted(r)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	expectSkips(t, r, map[string]int{skippedName: 3})
}

func TestWalkLeavesOutWhatIsNestedTooDeeply(t *testing.T) {
	path := t.TempDir()
	// The root, the namespace and the dataset are the first three of the 128 folders that are open at a time.
	folder := filepath.Join(path, "team/ds1", strings.Repeat("d/", maxDepth-4)+"d")
	writeFile(t, filepath.Join(folder, "file"), 5000)
	r := newRoot(t, path)
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(referenceCounts(t, path), counted(r)); diff != "" {
		t.Errorf("counts at the depth that is allowed (-reference +got):\n%s", diff)
	}
	expectSkips(t, r, map[string]int{})

	writeFile(t, filepath.Join(folder, "one-too-many/file"), 5000)
	before := counted(r)
	pass(t, r, start(), atOnce)
	if diff := cmp.Diff(before, counted(r)); diff != "" {
		t.Errorf("counts below it (-want +got):\n%s", diff)
	}
	expectSkips(t, r, map[string]int{skippedDepth: 1})
}

// A walk that is interrupted as often as can be must find what one without an interruption finds, and both what the
// simplest of all walks does.
func TestWalkInPortionsEqualsTheReference(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			path := t.TempDir()
			randomTree(t, r, path)
			want := referenceCounts(t, path)
			before := openFiles(t)
			for name, steps := range map[string]func() int{
				"at once": atOnce, "step by step": func() int { return 1 }, "in random portions": func() int { return 1 + r.IntN(50) },
			} {
				walked := newRoot(t, path)
				portions := pass(t, walked, start(), steps)
				if diff := cmp.Diff(want, counted(walked)); diff != "" {
					t.Errorf("%s, %d portions: counts (-reference +got):\n%s", name, portions, diff)
				}
				if name == "step by step" && len(want) > 0 && portions < 10 {
					t.Errorf("%d portions are no interruption", portions)
				}
			}
			if after := openFiles(t); after != before {
				t.Errorf("%d open files after the walks, %d before", after, before)
			}
		})
	}
}

func TestWalkHoldsTheLastCountUntilTheNextIsComplete(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/a"), 5000)
	r := newRoot(t, path)
	pass(t, r, start(), atOnce)
	first := maps.Clone(r.counts)

	for i := range 50 {
		writeFile(t, filepath.Join(path, "team/ds1/sub", strconv.Itoa(i)), 5000)
	}
	later := start().Add(time.Minute)
	for range 30 {
		result, err := r.advance(testContext(t), later, newPace(unlimited), 1)
		if result != more || err != nil {
			t.Fatalf("advance() = %v, %v, want more to do", result, err)
		}
		if diff := cmp.Diff(first, r.counts, cmp.AllowUnexported(observation{})); diff != "" {
			t.Fatalf("counts during the walk (-want +got):\n%s", diff)
		}
	}
	latest := later.Add(time.Minute)
	pass(t, r, latest, atOnce)
	got := r.counts[datasetName{"team", "ds1"}]
	if want := referenceCount(t, filepath.Join(path, "team/ds1")); got.bytes != want || !got.at.Equal(latest) {
		t.Errorf("count %d of %s, want %d of %s, when it was completed", got.bytes, got.at, want, latest)
	}
}

// A folder that changes under a walk gives a count between the two states, never a failure.
func TestWalkOfAFolderThatChanges(t *testing.T) {
	path := t.TempDir()
	for i := range 1000 {
		writeFile(t, filepath.Join(path, "team/ds1", strconv.Itoa(i)), 100)
	}
	most := referenceCount(t, filepath.Join(path, "team/ds1"))
	r := newRoot(t, path)
	removed := 0
	pass(t, r, start(), func() int {
		for range 3 {
			if removed < 1000 {
				must(t, os.Remove(filepath.Join(path, "team/ds1", strconv.Itoa(removed))))
				removed++
			}
		}
		return 5
	})
	if got := r.counts[datasetName{"team", "ds1"}].bytes; got <= 0 || got >= most {
		t.Errorf("count %d, want more than 0 and less than %d", got, most)
	}
	expectSkips(t, r, map[string]int{})

	// Folders that vanish between two steps, the one that the walk stands in among them.
	writeFile(t, filepath.Join(path, "team/ds2/a/b/c/file"), 100)
	for range 12 {
		if _, err := r.advance(testContext(t), start(), newPace(unlimited), 1); err != nil {
			t.Fatal(err)
		}
	}
	must(t, os.RemoveAll(filepath.Join(path, "team")))
	pass(t, r, start(), atOnce)
	pass(t, r, start(), atOnce)
	if len(r.counts) != 0 {
		t.Errorf("counts %v of a root that is empty", r.counts)
	}
	expectSkips(t, r, map[string]int{})
}

// As root nothing is unreadable, so the test calls itself as somebody else.
func TestUnreadableFolders(t *testing.T) {
	if os.Geteuid() == 0 {
		runAsNobody(t)
		return
	}
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 5000)
	writeFile(t, filepath.Join(path, "team/ds1/locked/file"), 5000)
	writeFile(t, filepath.Join(path, "team/ds2/file"), 5000)
	writeFile(t, filepath.Join(path, "other/ds3/file"), 5000)
	r := newRoot(t, path)
	pass(t, r, start(), atOnce)
	all := referenceCounts(t, path)
	if diff := cmp.Diff(all, counted(r)); diff != "" {
		t.Fatalf("counts while all is readable (-reference +got):\n%s", diff)
	}

	want := maps.Clone(all)
	want[datasetName{"team", "ds1"}] -= referenceCount(t, filepath.Join(path, "team/ds1/locked"))
	for _, locked := range []string{"team/ds1/locked", "team/ds2", "other"} {
		locked = filepath.Join(path, locked)
		must(t, os.Chmod(locked, 0))
		t.Cleanup(func() { must(t, os.Chmod(locked, 0o700)) })
	}
	pass(t, r, start().Add(time.Minute), atOnce)
	// One folder of a dataset is left out; where a dataset's own or one above is locked, the last count stands.
	if diff := cmp.Diff(want, counted(r)); diff != "" {
		t.Errorf("counts with locked folders (-want +got):\n%s", diff)
	}
	expectSkips(t, r, map[string]int{skippedUnreadable: 3})

	pass(t, r, start().Add(keepFor+time.Minute), atOnce)
	maps.DeleteFunc(want, func(name datasetName, _ int64) bool { return name.name != "ds1" })
	if diff := cmp.Diff(want, counted(r)); diff != "" {
		t.Errorf("counts when the last are old (-want +got):\n%s", diff)
	}

	must(t, os.Chmod(path, 0))
	t.Cleanup(func() { must(t, os.Chmod(path, 0o700)) })
	result, err := r.advance(testContext(t), start(), newPace(unlimited), atOnce())
	if result != finished || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "dataset root "+path+" cannot be read") {
		t.Errorf("advance() of a locked root = %v, %v, want the reason", result, err)
	}
	if diff := cmp.Diff(want, counted(r)); diff != "" {
		t.Errorf("counts with a locked root (-want +got):\n%s", diff)
	}
}

func runAsNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	folder, err := os.MkdirTemp("", "vicinity-nobody-") //nolint:usetesting // others may not enter t.TempDir()
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(folder)) })
	must(t, os.Chown(folder, nobody, nobody))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), asUser+"="+strconv.Itoa(nobody), "TMPDIR="+folder)
	output, err := cmd.CombinedOutput()
	if strings.Contains(string(output), "set") && strings.Contains(string(output), syscall.EPERM.Error()) {
		t.Skip("this root may not become somebody else")
	}
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Errorf("the test as user %d: %v\n%s", nobody, err, output)
	}
}
