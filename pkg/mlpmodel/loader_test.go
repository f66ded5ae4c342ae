package mlpmodel

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/vicinity-scheduler/vicinity/pkg/feature"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp"
	"github.com/vicinity-scheduler/vicinity/pkg/mlp/safetensors"
)

// interval is short so that tests that wait for a look at the file wait for as long only.
const interval = time.Millisecond

// model is a file with a network of one layer of zeros, which gives the bias for every input.
func model(t *testing.T, name string, bias float32) []byte {
	t.Helper()
	file := &mlp.File{
		Info:   mlp.Info{Name: name, Schema: feature.SchemaName(), SchemaHash: feature.Hash()},
		Layers: []mlp.Layer{{Inputs: feature.Inputs, Outputs: 1, Weights: make([]float32, feature.Inputs), Bias: []float32{bias}}},
		Golden: mlp.Golden{Inputs: make([]float32, feature.Inputs), Outputs: []float32{bias}},
	}
	data, err := file.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newLoader(t *testing.T) *Loader {
	t.Helper()
	l, err := New(model(t, "built-in", 0), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// counts are the numbers of models that were used and refused.
func (l *Loader) counts() [2]float64 {
	return [2]float64{
		testutil.ToFloat64(l.loads.WithLabelValues("loaded")), testutil.ToFloat64(l.loads.WithLabelValues("refused")),
	}
}

// watch looks at the file until the test ends, and the test fails if that leaves a goroutine.
func (l *Loader) watch(t *testing.T, file string) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { l.WatchFile(ctx, file, interval) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
		goleak.VerifyNone(t, leaks)
	})
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			t.Fatalf("want %s within 20 s", what)
		}
	}
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOffers(t *testing.T) {
	good, other := model(t, "good", 1), model(t, "other", 2)
	cases := map[string]struct {
		offers [][]byte
		// inUse is the model that is used in the end, counts how many were loaded and refused.
		inUse  string
		counts [2]float64
	}{
		"nothing is offered":                             {nil, "built-in", [2]float64{0, 0}},
		"a good one":                                     {[][]byte{good}, "good", [2]float64{1, 0}},
		"a good one, truncated":                          {[][]byte{good[:len(good)-1]}, "built-in", [2]float64{0, 1}},
		"a ConfigMap without the key":                    {[][]byte{nil}, "built-in", [2]float64{0, 1}},
		"the last good one stays":                        {[][]byte{good, []byte("no model"), other[:100]}, "good", [2]float64{1, 2}},
		"the same again and again is looked at once":     {[][]byte{good, good, good}, "good", [2]float64{1, 0}},
		"the same fault again and again is counted once": {[][]byte{good, {1}, {1}, {1}}, "good", [2]float64{1, 1}},
		"flapping between two models":                    {[][]byte{good, other, good, other}, "other", [2]float64{4, 0}},
		"flapping between a model and nonsense":          {[][]byte{good, {1}, good, {1}}, "good", [2]float64{2, 2}},
		"a weight is damaged, which the goldens show":    {[][]byte{bytes.Replace(good, []byte{0, 0, 0x80, 0x3f}, []byte{0, 0, 0, 0x40}, 1)}, "built-in", [2]float64{0, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLoader(t)
			for _, data := range tc.offers {
				if err := l.Offer(data); err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%q stays in use", l.Current().Name)) {
					t.Errorf("want an error that names the model in use, found %v", err)
				}
			}
			if got := l.Current().Name; got != tc.inUse {
				t.Errorf("want model %q in use, found %q", tc.inUse, got)
			}
			if diff := cmp.Diff(tc.counts, l.counts()); diff != "" {
				t.Errorf("loaded and refused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABuiltInModelThatCannotBeUsed(t *testing.T) {
	if _, err := New([]byte("no model"), prometheus.NewRegistry()); err == nil || !strings.Contains(err.Error(), "built-in model") {
		t.Errorf("want an error about the built-in model, found %v", err)
	}
	registry := prometheus.NewRegistry()
	for i, want := range []bool{true, false} {
		if _, err := New(model(t, "built-in", 0), registry); (err == nil) != want {
			t.Errorf("loader %d with one registry: found error %v", i, err)
		}
	}
}

func TestAFileIsReadAgainWhenItChanges(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "model.safetensors")
	l := newLoader(t)
	l.watch(t, file) // is not there yet
	write(t, file, model(t, "first", 1))
	eventually(t, "the first model", func() bool { return l.Current().Name == "first" })

	// Renamed over, as careful writers do: the file's identity changes.
	next := file + ".next"
	write(t, next, model(t, "second", 2))
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second model", func() bool { return l.Current().Name == "second" })

	write(t, file, []byte("no model"))
	eventually(t, "a refusal", func() bool { return l.counts()[1] >= 1 })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := l.Current().Name; got != "second" {
		t.Errorf("want the last good model, %q, found %q", "second", got)
	}
	write(t, file, model(t, "third", 3))
	eventually(t, "the third model", func() bool { return l.Current().Name == "third" })
}

// A mounted ConfigMap is a link to a link: the kubelet swaps the inner one.
func TestAMountedConfigMapIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	for i, version := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, version, "model.safetensors"), model(t, version, float32(i)))
	}
	link := func(version string) {
		t.Helper()
		if err := os.Symlink(version, filepath.Join(dir, "next")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
	}
	link("v1")
	file := filepath.Join(dir, "model.safetensors")
	if err := os.Symlink(filepath.Join("data", "model.safetensors"), file); err != nil {
		t.Fatal(err)
	}
	l := newLoader(t)
	l.watch(t, file)
	eventually(t, "the model of v1", func() bool { return l.Current().Name == "v1" })
	link("v2")
	eventually(t, "the model of v2", func() bool { return l.Current().Name == "v2" })
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	pipe, huge, at := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge"), filepath.Join(dir, "model")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// A terabyte without a block on the disk.
	write(t, huge, nil)
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Skipf("no file of a terabyte here: %v", err)
	}
	write(t, at, []byte("abc"))
	for path, part := range map[string]string{
		dir: "want a regular file", pipe: "want a regular file", filepath.Join(dir, "absent"): "no such file", "/dev/zero": "want a regular file",
	} {
		if _, err := read(path); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: want an error with %q, found %v", path, part, err)
		}
	}
	if data, err := read(at); err != nil || string(data) != "abc" {
		t.Errorf("want the file's content, found %q and error %v", data, err)
	}
	data, err := read(huge)
	if err != nil || len(data) != safetensors.MaxBytes+1 {
		t.Fatalf("want one byte more than is allowed, found %d and error %v", len(data), err)
	}
	if err := newLoader(t).Offer(data); err == nil {
		t.Error("want a file that is too large refused")
	}
}

// Readers see one of the models at any time while another goroutine offers.
func TestModelsAreReadWhileTheyChange(t *testing.T) {
	l := newLoader(t)
	a, b := model(t, "a", 1), model(t, "b", 2)
	var offering sync.WaitGroup
	offering.Go(func() {
		for range 100 {
			for _, data := range [][]byte{a, {1}, b} {
				_ = l.Offer(data) // every third is refused
			}
		}
	})
	for range 1000 {
		if name := l.Current().Name; name != "built-in" && name != "a" && name != "b" {
			t.Fatalf("found model %q", name)
		}
	}
	offering.Wait()
	if diff := cmp.Diff([2]float64{200, 100}, l.counts()); diff != "" {
		t.Errorf("loaded and refused (-want +got):\n%s", diff)
	}
}
