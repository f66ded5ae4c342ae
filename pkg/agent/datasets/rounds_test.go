package datasets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// files makes a root with a dataset of so many empty files and one with content.
func files(t testing.TB, n int) string {
	t.Helper()
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 4096)
	for i := range n - 1 {
		file, err := os.Create(filepath.Join(path, "team/ds1", strconv.Itoa(i)))
		must(t, err)
		must(t, file.Close())
	}
	return path
}

// In the bubble time passes only while the limiter sleeps, so that the whole duration is the limiter's.
func TestCollectorKeepsToItsRate(t *testing.T) {
	path := files(t, 1000)
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{}
		c := newTestCollector(t, store, 100, ssd(path))
		begin := time.Now()
		collect(t, c, begin)
		// A step for each of 1000 files and 2 folders, one for each of 3 folders to read to its end, one for each of
		// 4 + 1 + 1 portions of names: 1011. The first 5 are free, and steps are paid for 5 at a time: 1006 steps of
		// 10 ms, rounded up, are 10.1 s.
		if took := time.Since(begin); took < 10*time.Second || took > 10500*time.Millisecond {
			t.Errorf("a walk of 1011 steps took %s at 100 steps a second, want about 10.1s", took)
		}
		if got := testutil.ToFloat64(c.metrics.walk.examined); got != 1002 {
			t.Errorf("%v files and folders looked up, want 1002", got)
		}
	})
}

// Rounds of 8 s leave 6 s for the walk, so that one of about 10 s needs two, and the report comes in time each time.
func TestCollectorGoesOnWhereARoundEnded(t *testing.T) {
	path := files(t, 1000)
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{}
		c := newTestCollector(t, store, 100, ssd(path))
		for round, want := range []int{0, 1} {
			ctx, cancel := context.WithTimeout(testContext(t), 8*time.Second)
			begin := time.Now()
			must(t, c.Collect(ctx, begin))
			cancel()
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("round %d took %s, want at most three quarters of 8s", round, took)
			}
			if got := len(store.latest()); got != want || len(store.writes) != round+1 {
				t.Errorf("%d reports with %d datasets after round %d, want a report a round with %d", len(store.writes), got, round, want)
			}
			time.Sleep(15 * time.Second)
		}
		if got := testutil.ToFloat64(c.roots[0].metrics.passes); got != 1 {
			t.Errorf("%v complete walks, want one", got)
		}
	})
}

// However large one root and however short the rounds, each root gets its turn.
func TestCollectorIsFairToItsRoots(t *testing.T) {
	large, small := files(t, 3*turn), files(t, 10)
	for _, order := range [][]string{{large, small}, {small, large}} {
		synctest.Test(t, func(t *testing.T) {
			c := newTestCollector(t, &fakeStore{}, 100, ssd(order[0]), ssd(order[1]))
			for range 20 {
				ctx, cancel := context.WithTimeout(testContext(t), time.Second)
				must(t, c.Collect(ctx, time.Now()))
				cancel()
			}
			counted := slices.IndexFunc(c.roots, func(r *root) bool { return r.path == small && r.settled })
			if counted < 0 {
				t.Error("the small root was not walked through within 20 rounds")
			}
		})
	}
}

func TestCollectorWithAHundredThousandFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files: not with -short")
	}
	path := t.TempDir()
	largeTree(t, path)
	store := &fakeStore{}
	c := newTestCollector(t, store, 1000000, ssd(path))
	for !c.roots[0].settled {
		if _, err := c.roots[0].advance(testContext(t), start(), c.pace, turn); err != nil {
			t.Fatal(err)
		}
		if w := c.roots[0].walk; w != nil {
			names := 0
			for _, frame := range w.stack {
				names += len(frame.names)
			}
			if names > namesPerRead*len(w.stack) || len(w.stack) > 5 {
				t.Fatalf("the walk holds %d names in %d folders", names, len(w.stack))
			}
		}
	}
	must(t, c.report(t.Context(), start()))
	want := map[string]int64{}
	for name, bytes := range referenceCounts(t, path) {
		want[name.namespace+"/"+name.name+" SSD"] = bytes
	}
	if diff := cmp.Diff(want, store.latest()); diff != "" || len(want) != 11 {
		t.Errorf("%d datasets (-reference +got):\n%s", len(want), diff)
	}
	if got := testutil.ToFloat64(c.metrics.walk.examined); got < 100000 || got > 100000+1000 {
		t.Errorf("%v files and folders looked up, want 100,000 files and some folders", got)
	}
}

// largeTree makes 100,000 files, about every hundredth with content: half of them in one folder, half in a tree.
func largeTree(t testing.TB, path string) {
	t.Helper()
	for i := range 100000 {
		folder := filepath.Join(path, "team/flat")
		if i%2 == 1 {
			folder = filepath.Join(path, "team", fmt.Sprintf("ds%d", i/2%10), strconv.Itoa(i/20%50))
		}
		if i < 1000 {
			makeFolder(t, folder)
		}
		file, err := os.Create(filepath.Join(folder, strconv.Itoa(i)))
		must(t, err)
		// Ninety-seven is prime to the number of datasets.
		if i%97 == 0 {
			_, err = file.WriteString("x")
			must(t, err)
		}
		must(t, file.Close())
	}
}
