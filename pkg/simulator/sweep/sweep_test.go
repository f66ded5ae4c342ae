package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func grid() *Grid {
	return &Grid{Policies: []string{"FGD", "BestFit"}, Traces: []string{"default", "cpu050"}, Seeds: []int64{1, 2, 3}}
}

func settings() *Settings { return &Settings{Schema: Schema, Tune: 1.3, Nodes: 2} }

// play invents a result whose allocation is 90 + seed at 100 % arrived, and one more at the end.
func play(_ context.Context, c Cell) (*report.Document, error) {
	at := 90 + float64(c.Seed)
	return &report.Document{
		Schema: report.Schema, Policy: c.Policy, Trace: c.Trace, Seed: c.Seed,
		Allocation: report.Curve{{ArrivedPercent: 100, Value: at}, {ArrivedPercent: 130, Value: at + 1}}, FragRatio: report.Curve{},
	}, nil
}

func runIn(t *testing.T, folder string, shard Shard, play Player) (*Store, error) {
	t.Helper()
	store, err := Open(folder, shard, settings())
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), grid().Cells(), shard, 3, store, play, func(int, int) {})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return store, err
}

func TestASweepPlaysEachCellOnce(t *testing.T) {
	store, err := runIn(t, t.TempDir(), Shard{}, play)
	if err != nil {
		t.Fatal(err)
	}
	cells := grid().Cells()
	results := store.Results(cells)
	if len(cells) != 12 || len(results) != 12 {
		t.Fatalf("want 2 x 2 x 3 = 12 cells and results, found %d and %d", len(cells), len(results))
	}
	for i, d := range results {
		if cellOf(d) != cells[i] {
			t.Errorf("result %d: want %+v, found %+v", i, cells[i], cellOf(d))
		}
	}
}

// A process that is killed leaves a line without an end at most.
func TestASweepGoesOnWhereItWas(t *testing.T) {
	folder := t.TempDir()
	var plays atomic.Int32
	stop := errors.New("stopped")
	_, err := runIn(t, folder, Shard{}, func(ctx context.Context, c Cell) (*report.Document, error) {
		if plays.Add(1) > 5 {
			return nil, stop
		}
		return play(ctx, c)
	})
	if !errors.Is(err, stop) {
		t.Fatalf("want the player's error, found %v", err)
	}
	path := filepath.Join(folder, "results.jsonl")
	data, err := os.ReadFile(path)
	if err != nil || strings.Count(string(data), "\n") != 6 {
		t.Fatalf("want settings and five results, found error %v and\n%s", err, data)
	}
	if err := os.WriteFile(path, data[:len(data)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	plays.Store(0)
	store, err := runIn(t, folder, Shard{}, func(ctx context.Context, c Cell) (*report.Document, error) {
		plays.Add(1)
		return play(ctx, c)
	})
	// Four of the five are whole, 8 of 12 are left.
	if err != nil || plays.Load() != 8 || len(store.Results(grid().Cells())) != 12 {
		t.Errorf("want 8 runs and 12 results, found %d and %d, error %v", plays.Load(), len(store.Results(grid().Cells())), err)
	}
}

func TestOtherSettingsAreRefused(t *testing.T) {
	folder := t.TempDir()
	if _, err := runIn(t, folder, Shard{}, play); err != nil {
		t.Fatal(err)
	}
	other := settings()
	other.Tune = 1.2
	if _, err := Open(folder, Shard{}, other); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("want an error that names the flag, found %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "results.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder, Shard{}, settings()); err == nil || !strings.Contains(err.Error(), "results.jsonl:1: want settings") {
		t.Errorf("want an error that names file and line, found %v", err)
	}
}

func TestShardsMergeIntoTheWhole(t *testing.T) {
	folder := t.TempDir()
	for i := range 5 {
		if _, err := runIn(t, folder, Shard{Index: i, Of: 5}, play); err != nil {
			t.Fatal(err)
		}
	}
	found, results, err := Merge(folder)
	if err != nil || *found != *settings() || len(results) != 12 {
		t.Fatalf("want 12 results, found %d under %+v, error %v", len(results), found, err)
	}
	// Values 91, 92, 93 at 100 %: mean 92, deviation sqrt((1+0+1)/2) = 1.
	want := Mean{Mean: 92, Deviation: 1, Values: 3}
	for _, s := range Summarise(results) {
		if s.Runs != 3 || s.At100 != want || s.AtEnd.Mean != 93 {
			t.Errorf("%s on %s: want 3 runs with %v, found %+v", s.Policy, s.Trace, want, s)
		}
	}
	if _, _, err := Merge(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("want an error for a folder without results, found %v", err)
	}
}

func TestParse(t *testing.T) {
	if got, err := ParseSeeds("42-44, 7,43"); err != nil || !cmp.Equal(got, []int64{42, 43, 44, 7}) {
		t.Errorf("want four seeds, found %v and error %v", got, err)
	}
	for _, text := range []string{"", "a", "3-1", "1-", "1-9999999999", "-1"} {
		if got, err := ParseSeeds(text); err == nil {
			t.Errorf("%q: want an error, found %d seeds", text, len(got))
		}
	}
	if got, err := ParseShard("2/5"); err != nil || got != (Shard{Index: 2, Of: 5}) {
		t.Errorf("want the third of five, found %+v and error %v", got, err)
	}
	for _, text := range []string{"5/5", "-1/5", "1", "a/b", "0/0"} {
		if got, err := ParseShard(text); err == nil {
			t.Errorf("%q: want an error, found %+v", text, got)
		}
	}
}

func TestManifest(t *testing.T) {
	text, err := (&Job{Name: "s", Image: "i", Claim: "c", Shards: 10, CPUs: 2, Args: []string{"--seeds", "1"}}).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		t.Fatal(err)
	}
	if *job.Spec.CompletionMode != batchv1.IndexedCompletion || *job.Spec.Completions != 10 || *job.Spec.Parallelism != 10 {
		t.Errorf("want ten indexed completions, found %s", text)
	}
	want := []string{"simulate", "sweep", "--seeds", "1", "--shard", "$(JOB_COMPLETION_INDEX)/10", "--out", "/data/s"}
	if diff := cmp.Diff(want, job.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if _, err := (&Job{Shards: 1, CPUs: 1}).Manifest(); err == nil || !strings.Contains(err.Error(), "--job-image") {
		t.Errorf("want an error that names the flags, found %v", err)
	}
}

// FuzzParseResults: no file of results panics, and what is taken over can be read again.
func FuzzParseResults(f *testing.F) {
	f.Add([]byte("{\"schema\":\"vicinity.sweep/v1\"}\n{\"schema\":\"vicinity.simulation/v1\",\"allocation\":{\"100\":95}}\n{\"sch"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, results, whole, err := parse("f", data)
		if err != nil {
			return
		}
		if _, again, _, err := parse("f", whole); err != nil || len(again) != len(results) {
			t.Errorf("want %d results again, found %d and error %v", len(results), len(again), err)
		}
	})
}
