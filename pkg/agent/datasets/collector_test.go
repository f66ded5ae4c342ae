package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
)

// fakeStore keeps reports in memory.
type fakeStore struct {
	earlier *vicinityv1alpha1.NodeDatasetCacheStatus
	fails   error
	reads   int
	writes  []vicinityv1alpha1.NodeDatasetCacheStatus
	closed  bool
}

func (s *fakeStore) Read(context.Context) (*vicinityv1alpha1.NodeDatasetCacheStatus, error) {
	s.reads++
	return s.earlier, s.fails
}

func (s *fakeStore) Write(_ context.Context, status vicinityv1alpha1.NodeDatasetCacheStatus) error {
	if s.fails == nil {
		s.writes = append(s.writes, status)
	}
	return s.fails
}

func (s *fakeStore) Close() { s.closed = true }

// latest is the last report as "namespace/name medium": bytes.
func (s *fakeStore) latest() map[string]int64 {
	if len(s.writes) == 0 {
		return nil
	}
	found := map[string]int64{}
	for _, entry := range s.writes[len(s.writes)-1].Datasets {
		found[fmt.Sprintf("%s/%s %s", entry.Namespace, entry.Name, entry.Medium)] = entry.CachedBytes
	}
	return found
}

func newTestCollector(t testing.TB, store *fakeStore, filesPerSecond int32, roots ...configv1.DatasetRoot) *Collector {
	t.Helper()
	config := &configv1.AgentConfiguration{Datasets: configv1.DatasetsConfiguration{Roots: roots, MaxFilesPerSecond: filesPerSecond}}
	configv1.SetDefaults_AgentConfiguration(config)
	c, err := newCollector(&config.Datasets, store, prometheus.NewRegistry())
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil || !store.closed {
			t.Errorf("Close() = %v, store closed: %t", err, store.closed)
		}
	})
	return c
}

func ssd(path string) configv1.DatasetRoot { return configv1.DatasetRoot{Path: path, Medium: "SSD"} }

func collect(t *testing.T, c *Collector, now time.Time) {
	t.Helper()
	if err := c.Collect(testContext(t), now); err != nil {
		t.Fatalf("round of %s: %v", now, err)
	}
}

func TestCollectorReportsOnlyNews(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 100*4096)
	store := &fakeStore{}
	c := newTestCollector(t, store, 0, ssd(path))
	bytes := func(dataset string) int64 { return referenceCount(t, filepath.Join(path, "team", dataset)) }

	steps := []struct {
		name   string
		change func()
		at     time.Duration
		writes int
		want   map[string]int64
	}{
		{name: "the first round reports", writes: 1, want: map[string]int64{"team/ds1 SSD": bytes("ds1")}},
		{name: "nothing has changed", at: 20 * time.Second, writes: 1, want: map[string]int64{"team/ds1 SSD": bytes("ds1")}},
		{
			// 4 of 100 blocks are less than 5 %.
			name: "little has changed", at: 40 * time.Second, writes: 1, want: map[string]int64{"team/ds1 SSD": bytes("ds1")},
			change: func() { writeFile(t, filepath.Join(path, "team/ds1/more"), 4*4096) },
		},
		{
			name: "the heartbeat tells of it", at: 60 * time.Second, writes: 2,
			want: map[string]int64{"team/ds1 SSD": bytes("ds1") + 4*4096},
		},
		{
			// 10 of 104 blocks.
			name: "much has changed, but the last report is young", at: 74 * time.Second, writes: 2,
			change: func() { writeFile(t, filepath.Join(path, "team/ds1/most"), 10*4096) },
			want:   map[string]int64{"team/ds1 SSD": bytes("ds1") + 4*4096},
		},
		{
			name: "15 s later it is reported", at: 75 * time.Second, writes: 3,
			want: map[string]int64{"team/ds1 SSD": bytes("ds1") + 14*4096},
		},
		{
			name: "a dataset has appeared", at: 90 * time.Second, writes: 4,
			change: func() { writeFile(t, filepath.Join(path, "team/ds2/file"), 1) },
			want:   map[string]int64{"team/ds1 SSD": bytes("ds1") + 14*4096, "team/ds2 SSD": 4096},
		},
		{
			name: "a dataset is gone", at: 105 * time.Second, writes: 5,
			change: func() { must(t, os.RemoveAll(filepath.Join(path, "team/ds1"))) },
			want:   map[string]int64{"team/ds2 SSD": 4096},
		},
		{
			name: "everything is gone", at: 120 * time.Second, writes: 6,
			change: func() { must(t, os.RemoveAll(filepath.Join(path, "team"))) },
			want:   map[string]int64{},
		},
	}
	for _, step := range steps {
		if step.change != nil {
			step.change()
		}
		now := start().Add(step.at)
		collect(t, c, now)
		if diff := cmp.Diff(step.want, store.latest()); diff != "" || len(store.writes) != step.writes {
			t.Fatalf("%s: %d writes, want %d; datasets (-want +got):\n%s", step.name, len(store.writes), step.writes, diff)
		}
		last := store.writes[len(store.writes)-1]
		for _, entry := range last.Datasets {
			if !entry.ObservedAt.Equal(&last.ObservedAt) || entry.TotalBytes != 0 {
				t.Errorf("%s: %+v in a report of %s, want it counted in the same round and no total", step.name, entry, last.ObservedAt)
			}
		}
	}
	want := map[string]float64{reasonStart: 1, reasonHeartbeat: 1, reasonChange: 4}
	for reason, counter := range c.metrics.reports {
		if got := testutil.ToFloat64(counter); got != want[reason] {
			t.Errorf("%v reports because of %s, want %v", got, reason, want[reason])
		}
	}
	if store.reads != 1 {
		t.Errorf("the earlier report was read %d times, want once", store.reads)
	}
}

func TestCollectorTriesAgainAfterAFailure(t *testing.T) {
	path := t.TempDir()
	writeFile(t, filepath.Join(path, "team/ds1/file"), 1)
	store := &fakeStore{fails: errors.New("no route to host")}
	c := newTestCollector(t, store, 0, ssd(path))
	for _, after := range []time.Duration{0, time.Second, 14 * time.Second} {
		if err := c.Collect(testContext(t), start().Add(after)); !errors.Is(err, store.fails) {
			t.Errorf("round after %s: %v, want the failure, so that rounds between two attempts do not look good", after, err)
		}
	}
	if store.reads != 1 {
		t.Errorf("%d attempts in 15 s, want 1", store.reads)
	}
	if err := c.Collect(testContext(t), start().Add(15*time.Second)); !errors.Is(err, store.fails) || store.reads != 2 {
		t.Errorf("round after 15 s: %v with %d attempts in all, want another attempt that fails", err, store.reads)
	}
	store.fails = nil
	collect(t, c, start().Add(30*time.Second))
	if len(store.writes) != 1 {
		t.Errorf("%d reports, want one", len(store.writes))
	}
}

// After a restart, what the earlier agent counted stands until this one has counted it.
func TestCollectorInheritsTheEarlierReport(t *testing.T) {
	path := t.TempDir()
	for _, dataset := range []string{"ds1", "ds2"} {
		for i := range 100 {
			writeFile(t, filepath.Join(path, "team", dataset, strconv.Itoa(i)), 1)
		}
	}
	old := metav1.NewTime(start().Add(-time.Hour))
	entry := func(name string, medium vicinityv1alpha1.Medium) vicinityv1alpha1.CachedDataset {
		return vicinityv1alpha1.CachedDataset{Namespace: "team", Name: name, Medium: medium, ObservedAt: old, CachedBytes: 7}
	}
	store := &fakeStore{earlier: &vicinityv1alpha1.NodeDatasetCacheStatus{ObservedAt: old, Datasets: []vicinityv1alpha1.CachedDataset{
		entry("ds1", "SSD"), entry("ds2", "SSD"), entry("gone", "SSD"), entry("ds1", "HDD"),
	}}}
	c := newTestCollector(t, store, 0, ssd(path))
	// About half of the tree: one dataset is complete.
	for len(c.roots[0].counts) == 0 {
		_, err := c.roots[0].advance(testContext(t), start(), c.pace, 1)
		must(t, err)
	}
	must(t, c.report(t.Context(), start()))
	if len(store.writes) != 1 || len(store.writes[0].Datasets) != 3 {
		t.Fatalf("reports %+v, want one with the three datasets that were on SSD", store.writes)
	}
	var young, inherited int
	for _, entry := range store.writes[0].Datasets {
		switch {
		case entry.CachedBytes == 100*4096 && entry.ObservedAt.Time.Equal(start()):
			young++
		case entry.CachedBytes == 7 && entry.ObservedAt.Equal(&old):
			inherited++
		}
	}
	if young != 1 || inherited != 2 {
		t.Errorf("datasets %+v, want one counted anew and two inherited with their age", store.writes[0].Datasets)
	}

	collect(t, c, start().Add(time.Minute))
	want := map[string]int64{"team/ds1 SSD": 100 * 4096, "team/ds2 SSD": 100 * 4096}
	if diff := cmp.Diff(want, store.latest()); diff != "" {
		t.Errorf("datasets after the first whole walk (-want +got):\n%s", diff)
	}
}

func TestCollectorAddsUpRootsOfOneMedium(t *testing.T) {
	first, second, memory := t.TempDir(), t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(first, "team/ds1/file"), 4096)
	writeFile(t, filepath.Join(second, "cache/ds1/of/team/file"), 3*4096)
	writeFile(t, filepath.Join(memory, "team/ds1/file"), 7*4096)
	store := &fakeStore{}
	c := newTestCollector(t, store, 0, ssd(first),
		configv1.DatasetRoot{Path: second, Medium: "SSD", Layout: "cache/{dataset}/of/{namespace}"},
		configv1.DatasetRoot{Path: memory, Medium: "Memory"},
		configv1.DatasetRoot{Path: filepath.Join(first, "missing"), Medium: "HDD"})
	collect(t, c, start())
	want := map[string]int64{"team/ds1 SSD": 4 * 4096, "team/ds1 Memory": 7 * 4096}
	if diff := cmp.Diff(want, store.latest()); diff != "" {
		t.Errorf("datasets (-want +got):\n%s", diff)
	}
	for medium, want := range map[vicinityv1alpha1.Medium]float64{"SSD": 4 * 4096, "Memory": 7 * 4096, "HDD": 0} {
		if got := testutil.ToFloat64(c.metrics.bytes[medium]); got != want {
			t.Errorf("%v bytes on %s in the metrics, want %v", got, medium, want)
		}
	}
	for i, want := range []float64{1, 1, 1, 0} {
		if got := testutil.ToFloat64(c.roots[i].metrics.readable); got != want {
			t.Errorf("root %d readable: %v, want %v", i, got, want)
		}
	}
}

// A root that cannot be read does not keep the others from being reported.
func TestCollectorReportsInSpiteOfABrokenRoot(t *testing.T) {
	path, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	writeFile(t, filepath.Join(path, "team/ds1/file"), 1)
	writeFile(t, file, 1)
	store := &fakeStore{}
	c := newTestCollector(t, store, 0, ssd(file), ssd(path))
	if err := c.Collect(testContext(t), start()); err == nil || len(store.latest()) != 1 {
		t.Errorf("Collect() = %v with datasets %v, want an error and a report", err, store.latest())
	}
}

func TestCollectorStopsInTheMiddleOfAWalk(t *testing.T) {
	path := files(t, 1000)
	before := openFiles(t)
	store := &fakeStore{}
	c := newTestCollector(t, store, 0, ssd(path))
	result, err := c.roots[0].advance(testContext(t), start(), c.pace, 500)
	if result != more || err != nil {
		t.Fatalf("advance() = %v, %v, want more to do", result, err)
	}
	if during := openFiles(t); during <= before {
		t.Fatalf("%d open files during the walk, %d before: the test cannot tell a leak", during, before)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Collect(stopped, start()); !errors.Is(err, context.Canceled) || store.reads != 0 {
		t.Errorf("Collect() of an agent that stops = %v with %d requests, want its end and no request", err, store.reads)
	}
	must(t, c.Close(t.Context()))
	if after := openFiles(t); after != before {
		t.Errorf("%d open files after Close, %d before", after, before)
	}
}
